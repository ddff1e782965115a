// Reads texts as KubeRay reads serveConfigV2. In: a JSON list of texts. Out: readings.json.
//
//	go mod init readings && go get sigs.k8s.io/yaml@v1.4.0
//	jq '[.[].text]' readings.json | go run read.go > new.json
package main

import (
	"encoding/json"
	"os"

	"sigs.k8s.io/yaml"
)

type reading struct {
	Text  string          `json:"text"`
	JSON  json.RawMessage `json:"json,omitempty"`
	Error string          `json:"error,omitempty"`
}

func main() {
	var texts []string
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		panic(err)
	}
	readings := make([]reading, 0, len(texts))
	for _, text := range texts {
		read := reading{Text: text}
		if printed, err := yaml.YAMLToJSON([]byte(text)); err != nil {
			read.Error = err.Error()
		} else {
			read.JSON = printed
		}
		readings = append(readings, read)
	}
	if err := json.NewEncoder(os.Stdout).Encode(readings); err != nil {
		panic(err)
	}
}
