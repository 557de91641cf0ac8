module sluice/bench/classic

go 1.26.0

require (
	github.com/google/uuid v1.6.0
	github.com/oschwald/maxminddb-golang/v2 v2.9.1
	github.com/twmb/franz-go v1.22.3
	github.com/valyala/fasthttp v1.78.0
)

require (
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/molecule-man/go-brrr v1.3.1 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	github.com/twmb/franz-go/pkg/kmsg v1.15.1 // indirect
	github.com/valyala/bytebufferpool v1.0.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)
