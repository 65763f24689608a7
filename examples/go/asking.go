// A drop-in extractor in Go, with the standard library alone: how many questions a text asks.
//
// With nats.go and its package micro, all but measure and the three replies would fall away.
package main

import (
	"bufio"
	"crypto/ed25519"
	"crypto/tls"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const name, version = "asking", "1.0.0"

type object = map[string]any

type call struct {
	Texts *[]struct{ ID, Text string }
}

func measure(text string) (object, string) {
	if strings.TrimSpace(text) == "" {
		return nil, "no words"
	}
	return object{"questions": strings.Count(text, "?")}, ""
}

func reply(what string, body []byte) (any, error) {
	switch what {
	case "spec":
		return object{"contract": "1", "name": name, "version": version, "features": []string{"questions"},
			"instrument": "counts of question marks"}, nil
	case "check":
		return object{"status": "ok"}, nil
	}
	var asked call
	if err := json.Unmarshal(body, &asked); err != nil || asked.Texts == nil {
		return nil, errors.New("this is no call")
	}
	results := []object{}
	for _, each := range *asked.Texts {
		if values, why := measure(each.Text); why != "" {
			results = append(results, object{"id": each.ID, "unscorable": why})
		} else {
			results = append(results, object{"id": each.ID, "values": values})
		}
	}
	return object{"version": version, "results": results}, nil
}

func address() string {
	if given := os.Getenv("NATS_URL"); given != "" {
		return given
	}
	home, _ := os.UserHomeDir() // where `biaswatch up` writes its addresses
	var here struct {
		URL string `json:"nats_url"`
	}
	if found, err := os.ReadFile(filepath.Join(home, ".biaswatch", "platform.json")); err == nil {
		_ = json.Unmarshal(found, &here)
	}
	if here.URL == "" {
		return "nats://127.0.0.1:4222"
	}
	return here.URL
}

// signed returns the public key of a seed file, and the server's nonce signed with it.
func signed(file, nonce string) (public, signature string, err error) {
	written, err := os.ReadFile(file)
	if err != nil {
		return "", "", err
	}
	coding := base32.StdEncoding.WithPadding(base32.NoPadding)
	raw, err := coding.DecodeString(strings.TrimSpace(string(written)))
	if err != nil || len(raw) != 36 {
		return "", "", errors.New(file + " holds no seed")
	}
	key := ed25519.NewKeyFromSeed(raw[2:34])
	named := append([]byte{20 << 3}, key.Public().(ed25519.PublicKey)...)
	sum := uint16(0) // CRC-16 (XMODEM), lowest byte first
	for _, each := range named {
		sum ^= uint16(each) << 8
		for bit := 0; bit < 8; bit++ {
			if sum&0x8000 != 0 {
				sum = sum<<1 ^ 0x1021
			} else {
				sum <<= 1
			}
		}
	}
	named = append(named, byte(sum), byte(sum>>8))
	return coding.EncodeToString(named), base64.RawURLEncoding.EncodeToString(ed25519.Sign(key, []byte(nonce))), nil
}

func serve() error {
	where, err := url.Parse(address())
	if err != nil {
		return err
	}
	conn, err := net.Dial("tcp", where.Host)
	if err != nil {
		return err
	}
	in := bufio.NewReader(conn)
	first, err := in.ReadString('\n')
	if err != nil {
		return err
	}
	var server struct {
		Nonce string
		TLS   bool `json:"tls_required"`
	}
	_ = json.Unmarshal([]byte(strings.TrimPrefix(first, "INFO ")), &server)
	if server.TLS {
		secured := tls.Client(conn, &tls.Config{ServerName: where.Hostname(), MinVersion: tls.VersionTLS12})
		conn, in = secured, bufio.NewReader(secured)
	}
	options := object{"name": name, "headers": true, "verbose": false, "lang": "go", "version": version}
	if seed := os.Getenv("BIASWATCH_NATS_SEED_FILE"); seed != "" {
		if options["nkey"], options["sig"], err = signed(seed, server.Nonce); err != nil {
			return err
		}
	}
	hello, _ := json.Marshal(options)
	fmt.Fprintf(conn, "CONNECT %s\r\n", hello)
	for number, what := range []string{"spec", "check", "extract"} { // one of all copies answers
		fmt.Fprintf(conn, "SUB ext.v1.%s.%s q %d\r\n", name, what, number)
	}
	service := "extractor-" + name
	fmt.Fprintf(conn, "SUB $SRV.INFO 3\r\nSUB $SRV.INFO.%s 4\r\n", service)
	about := object{"type": "io.nats.micro.v1.info_response", "name": service, "id": strconv.Itoa(os.Getpid()),
		"version": version, "metadata": object{"role": "extractor", "contract": "1"}, "endpoints": []object{}}
	log.Printf("%s is served", name)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == "PING":
			fmt.Fprint(conn, "PONG\r\n")
		case words[0] == "-ERR":
			return errors.New(strings.TrimSpace(line))
		case strings.HasSuffix(words[0], "MSG"): // MSG subject sid reply [headers] size
			size, _ := strconv.Atoi(words[len(words)-1])
			data := make([]byte, size+2)
			if _, err := io.ReadFull(in, data); err != nil {
				return err
			}
			head := 0
			if words[0] == "HMSG" {
				head, _ = strconv.Atoi(words[len(words)-2])
			}
			if words[0] == "MSG" && len(words) == 5 || len(words) == 6 { // somebody waits for a reply
				answer(conn, words[1], words[3], data[head:size], about)
			}
		}
	}
}

func answer(conn io.Writer, subject, inbox string, body []byte, about object) {
	var said any = about
	if !strings.HasPrefix(subject, "$SRV.") {
		found, err := reply(subject[strings.LastIndex(subject, ".")+1:], body)
		if err != nil {
			head := fmt.Sprintf("NATS/1.0\r\nNats-Service-Error: %s\r\nNats-Service-Error-Code: 422\r\n\r\n", err)
			fmt.Fprintf(conn, "HPUB %s %d %d\r\n%s\r\n", inbox, len(head), len(head), head)
			return
		}
		said = found
	}
	data, _ := json.Marshal(said)
	fmt.Fprintf(conn, "PUB %s %d\r\n%s\r\n", inbox, len(data), data)
}

func main() {
	log.Fatal(serve())
}
