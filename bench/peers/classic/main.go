// The classic stack, as a peer for the redirect benchmark: fasthttp, a map of links, a MaxMind database, JSON, and
// franz-go producing without waiting. It does per click what Sluice's edge does, except for what makes a click safe:
// nothing is on disk when the visitor is answered.
//
//	classic -port 9000 -links links.ndjson -geo countries.mmdb -broker 127.0.0.1:9092 -topic clicks
package main

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"log"
	"net/netip"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/oschwald/maxminddb-golang/v2"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/valyala/fasthttp"
)

type link struct {
	ID          int64  `json:"id"`
	WorkspaceID int64  `json:"workspaceId"`
	Domain      string `json:"domain"`
	Slug        string `json:"slug"`
	Destination string `json:"destination"`
}

type hints struct {
	Brands   string `json:"brands,omitempty"`
	Mobile   string `json:"mobile,omitempty"`
	Platform string `json:"platform,omitempty"`
}

type utm struct {
	Source   string `json:"source"`
	Medium   string `json:"medium"`
	Campaign string `json:"campaign"`
	Term     string `json:"term"`
	Content  string `json:"content"`
}

type click struct {
	V              int               `json:"v"`
	EventID        string            `json:"event_id"`
	Edge           string            `json:"edge"`
	EdgeRun        string            `json:"edge_run"`
	EdgeSeq        uint64            `json:"edge_seq"`
	TS             int64             `json:"ts"`
	WorkspaceID    int64             `json:"workspace_id"`
	LinkID         int64             `json:"link_id"`
	Domain         string            `json:"domain"`
	Slug           string            `json:"slug"`
	Destination    string            `json:"destination"`
	Status         int               `json:"status"`
	Method         string            `json:"method"`
	Country        string            `json:"country"`
	Region         string            `json:"region"`
	City           string            `json:"city"`
	ASN            uint32            `json:"asn"`
	UserAgent      string            `json:"user_agent"`
	ClientHints    hints             `json:"client_hints"`
	ReferrerDomain string            `json:"referrer_domain"`
	Language       string            `json:"language"`
	Visitor        string            `json:"visitor"`
	Bot            uint32            `json:"bot"`
	Prefetch       bool              `json:"prefetch"`
	QR             bool              `json:"qr"`
	Variant        int               `json:"variant"`
	UTM            utm               `json:"utm"`
	ClickIDs       map[string]string `json:"click_ids"`
	GPC            bool              `json:"gpc"`
}

type server struct {
	links    map[string]link
	geo      *maxminddb.Reader
	producer *kgo.Client
	run      string
	salt     []byte
	seq      atomic.Uint64
	failed   atomic.Uint64
}

func main() {
	port := flag.Int("port", 0, "")
	linksPath := flag.String("links", "", "")
	geoPath := flag.String("geo", "", "")
	broker := flag.String("broker", "", "")
	topic := flag.String("topic", "clicks", "")
	flag.Parse()

	geo, err := maxminddb.Open(*geoPath)
	if err != nil {
		log.Fatal(err)
	}
	producer, err := kgo.NewClient(
		kgo.SeedBrokers(*broker),
		kgo.DefaultProduceTopic(*topic),
		kgo.ProducerLinger(5*time.Millisecond),
		kgo.MaxBufferedRecords(1_000_000),
	)
	if err != nil {
		log.Fatal(err)
	}
	salt := make([]byte, 32)
	rand.Read(salt)
	s := &server{
		links:    readLinks(*linksPath),
		geo:      geo,
		producer: producer,
		run:      uuid.Must(uuid.NewV7()).String(),
		salt:     salt,
	}
	http := &fasthttp.Server{Handler: s.handle, NoDefaultServerHeader: true}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-stop
		http.Shutdown()
	}()
	if err := http.ListenAndServe("127.0.0.1:" + strconv.Itoa(*port)); err != nil {
		log.Fatal(err)
	}
	producer.Flush(context.Background())
	log.Printf("clicks %d failed %d", s.seq.Load(), s.failed.Load())
}

func readLinks(path string) map[string]link {
	file, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	links := make(map[string]link)
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var l link
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			log.Fatal(err)
		}
		links[l.Domain+"/"+l.Slug] = l
	}
	return links
}

func (s *server) handle(ctx *fasthttp.RequestCtx) {
	l, found := s.links[string(ctx.Host())+string(ctx.Path())]
	if !found {
		ctx.SetStatusCode(404)
		return
	}
	value, err := json.Marshal(s.click(ctx, l))
	if err != nil {
		log.Fatal(err)
	}
	record := &kgo.Record{Key: []byte(s.run), Value: value}
	s.producer.TryProduce(context.Background(), record, func(_ *kgo.Record, err error) {
		if err != nil {
			s.failed.Add(1)
		}
	})
	ctx.Response.Header.Set("Location", l.Destination)
	ctx.Response.Header.Set("Cache-Control", "private, no-store")
	ctx.SetStatusCode(302)
}

func (s *server) click(ctx *fasthttp.RequestCtx, l link) click {
	header := func(name string) string { return string(ctx.Request.Header.Peek(name)) }
	query := func(name string) string { return string(ctx.QueryArgs().Peek(name)) }
	agent := header("User-Agent")
	address, _ := netip.AddrFromSlice(ctx.RemoteIP())
	c := click{
		V: 1, EventID: uuid.Must(uuid.NewV7()).String(), Edge: "classic", EdgeRun: s.run,
		EdgeSeq: s.seq.Add(1), TS: time.Now().UnixMilli(),
		WorkspaceID: l.WorkspaceID, LinkID: l.ID, Domain: l.Domain, Slug: l.Slug, Destination: l.Destination,
		Status: 302, Method: string(ctx.Method()), UserAgent: agent,
		ClientHints:    hints{header("Sec-CH-UA"), header("Sec-CH-UA-Mobile"), header("Sec-CH-UA-Platform")},
		ReferrerDomain: hostOf(header("Referer")), Language: firstOf(header("Accept-Language")),
		Visitor: s.visitor(l.WorkspaceID, address, agent),
		QR:      query("qr") == "1",
		UTM: utm{query("utm_source"), query("utm_medium"), query("utm_campaign"), query("utm_term"),
			query("utm_content")},
		ClickIDs: map[string]string{}, GPC: header("Sec-GPC") == "1",
	}
	for _, name := range []string{"gclid", "fbclid", "msclkid", "ttclid"} {
		if id := query(name); id != "" {
			c.ClickIDs[name] = id
		}
	}
	s.geo.Lookup(address.Unmap()).DecodePath(&c.Country, "country_code")
	return c
}

func (s *server) visitor(workspace int64, address netip.Addr, agent string) string {
	network := address.String()
	if address.Is6() {
		prefix, _ := address.Prefix(64)
		network = prefix.String()
	}
	mac := hmac.New(sha256.New, s.salt)
	mac.Write([]byte(strconv.FormatInt(workspace, 10) + "\x00" + network + "\x00" + agent))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

func hostOf(referrer string) string {
	_, rest, _ := strings.Cut(referrer, "://")
	host, _, _ := strings.Cut(rest, "/")
	return strings.ToLower(host)
}

func firstOf(languages string) string {
	first, _, _ := strings.Cut(languages, ",")
	first, _, _ = strings.Cut(first, ";")
	return first
}
