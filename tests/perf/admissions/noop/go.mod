module holdfast.dev/noop

go 1.24
