"""The node's part of the machine's network: a bridge, two kernel settings, and chains that are all named KUBE- or CNI-.

What was there before is written down first and put back afterwards: the default route and the resolver are never
touched, nor is any rule outside those chains.
"""

import json
import re
from pathlib import Path

from tests.cluster.node.commands import run, succeeds
from tests.cluster.node.paths import BRIDGE, NODE_ADDRESS, STATE

_WANTED = {"net/ipv4/ip_forward": "1", "net/bridge/bridge-nf-call-iptables": "1"}
# These the kubelet and kube-proxy change of themselves.
_CHANGED_BY_OTHERS = (
    "net/ipv4/conf/all/route_localnet",
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
)
_SETTINGS_BEFORE = STATE / "kernel-settings-before.json"
_OURS = re.compile(r"(?:^| )(?:KUBE|CNI)-")


def set_up() -> None:
    """Make the bridge (it carries the node's address: the kubelet needs it at once), set the kernel's switches."""
    succeeds(["modprobe", "br_netfilter"])
    if not _SETTINGS_BEFORE.exists():
        before = {name: _read(name) for name in (*_WANTED, *_CHANGED_BY_OTHERS) if _path(name).exists()}
        _SETTINGS_BEFORE.write_text(json.dumps(before))
    for name, value in _WANTED.items():
        if _path(name).exists():
            _path(name).write_text(value)
    if not Path("/sys/class/net", BRIDGE).exists():
        run(["ip", "link", "add", BRIDGE, "type", "bridge"])
        run(["ip", "address", "add", f"{NODE_ADDRESS}/24", "dev", BRIDGE])
        run(["ip", "link", "set", BRIDGE, "up"])


def tear_down() -> None:
    """Remove bridge, pods' ends of it and chains; put the settings back. Harmless where nothing is left."""
    for port in Path("/sys/class/net", BRIDGE, "brif").glob("*"):
        succeeds(["ip", "link", "delete", port.name])
    succeeds(["ip", "link", "delete", BRIDGE])
    for family in ("iptables", "ip6tables"):
        for table in ("nat", "filter", "mangle"):
            _remove_chains(family, table)
    if _SETTINGS_BEFORE.exists():
        for name, value in json.loads(_SETTINGS_BEFORE.read_text()).items():
            if _read(name) != value:
                _path(name).write_text(value)


def traces() -> list[str]:
    """What of the above is there now, one sentence each."""
    found = [f"network interface {BRIDGE}"] if Path("/sys/class/net", BRIDGE).exists() else []
    for family in ("iptables", "ip6tables"):
        for table in ("nat", "filter", "mangle"):
            rules = [line for line in _rules(family, table) if _OURS.search(line)]
            found += [f"{len(rules)} {family} rules and chains in table {table}"] if rules else []
    return found


def _remove_chains(family: str, table: str) -> None:
    """Our jumps out of the kernel's own chains first; then a chain can be emptied, and when all are empty, removed."""
    rules = _rules(family, table)
    for rule in rules:
        if rule.startswith("-A") and not _OURS.match(rule.removeprefix("-A")) and _jumps_to_ours(rule):
            run([family, "-w", "-t", table, *_words(rule.replace("-A", "-D", 1))])
    chains = [rule.split()[1] for rule in rules if rule.startswith("-N") and _OURS.match(rule.removeprefix("-N"))]
    for action in ("-F", "-X"):
        for chain in chains:
            run([family, "-w", "-t", table, action, chain])


def _jumps_to_ours(rule: str) -> bool:
    return bool(re.search(r"-j (?:KUBE|CNI)-", rule))


def _words(rule: str) -> list[str]:
    """iptables -S prints a comment in quotes if it has blanks."""
    return [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', rule)]


def _rules(family: str, table: str) -> list[str]:
    if not succeeds([family, "-w", "-t", table, "-S"]):
        return []
    return run([family, "-w", "-t", table, "-S"]).splitlines()


def _path(setting: str) -> Path:
    return Path("/proc/sys", setting)


def _read(setting: str) -> str:
    return _path(setting).read_text().strip()
