package badserver

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// command reads a command, which a client sends as an array of bulk strings.
func command(from *bufio.Reader) ([]string, error) {
	line, err := from.ReadString('\n')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "*")))
	if err != nil {
		return nil, err
	}
	words := make([]string, n)
	for i := range words {
		header, err := from.ReadString('\n')
		if err != nil {
			return nil, err
		}
		length, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(header, "$")))
		if err != nil {
			return nil, err
		}
		text := make([]byte, length+len("\r\n"))
		if _, err := io.ReadFull(from, text); err != nil {
			return nil, err
		}
		words[i] = string(text[:length])
	}
	return words, nil
}

func bulk(text string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text) }

func array(elements ...string) string {
	return fmt.Sprintf("*%d\r\n%s", len(elements), strings.Join(elements, ""))
}

// speakRedis does its harm in the answer to INFO, or with the keys that it has.
func speakRedis(harm Harm, from *bufio.Reader, to io.Writer, wait func() bool) error {
	for n := 0; ; {
		words, err := command(from)
		if err != nil {
			return err
		}
		var answer string
		switch strings.ToUpper(words[0]) {
		case "HELLO":
			answer = array(bulk("mode"), bulk("standalone"), bulk("role"), bulk("master"))
		case "INFO":
			answer = bulk("redis_mode:standalone\r\nrole:master\r\nrun_id:1\r\n")
			switch harm {
			case Huge:
				answer = "$1099511627776\r\n"
			case Flood:
				if _, err := io.WriteString(to, "$1099511627\r\n"); err != nil {
					return err
				}
				return flood(to)
			}
		case "SCAN":
			if harm == Slow && !wait() {
				return io.EOF
			}
			if harm != Loop {
				n++
			}
			answer = array(bulk("7"), array(bulk(fmt.Sprintf("customer:%d", n))))
		case "TYPE":
			answer = "+hash\r\n"
			if harm == Deep {
				answer = "+string\r\n"
			}
		case "GET":
			answer = bulk(strings.Repeat(`{"name":`, 9_000) + "1" + strings.Repeat("}", 9_000))
		case "HGETALL":
			answer = array(bulk("name"), bulk(fmt.Sprint("c", n)))
			if harm == Fat {
				if _, err := fmt.Fprintf(to, "*2\r\n$4\r\nname\r\n$%d\r\n%s\r\n", fat, fatValue); err != nil {
					return err
				}
				continue
			}
		case "HMGET":
			answer = array(slices.Repeat([]string{bulk(fmt.Sprint("c", n))}, len(words)-2)...)
		default:
			answer = "+OK\r\n"
		}
		if _, err := io.WriteString(to, answer); err != nil {
			return err
		}
	}
}
