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
		name := strings.ToUpper(words[0])
		switch {
		case name == "INFO" && harm == Flood:
			if _, err := io.WriteString(to, "$1099511627\r\n"); err != nil {
				return err
			}
			return flood(to)
		case name == "SCAN" && harm == Slow && !wait():
			return io.EOF
		case name == "SCAN" && harm != Loop:
			n++
		}
		if _, err := io.WriteString(to, answer(harm, name, len(words), n)); err != nil {
			return err
		}
	}
}

// fatHash is sent as it is: a server in the process of a test must not be what takes its memory.
var fatHash = array(bulk("name"), bulk(string(fatValue)))

// answer is that to a command of that many words, with the n-th key.
func answer(harm Harm, command string, words, n int) string {
	value := bulk(fmt.Sprint("c", n))
	switch {
	case command == "HELLO":
		return array(bulk("mode"), bulk("standalone"), bulk("role"), bulk("master"))
	case command == "INFO" && harm == Huge:
		return "$1099511627776\r\n"
	case command == "INFO":
		return bulk("redis_mode:standalone\r\nrole:master\r\nrun_id:1\r\n")
	case command == "SCAN":
		return array(bulk("7"), array(bulk(fmt.Sprintf("customer:%d", n))))
	case command == "TYPE" && harm == Deep:
		return "+string\r\n"
	case command == "TYPE":
		return "+hash\r\n"
	case command == "GET":
		const levels = 9_000
		return bulk(strings.Repeat(`{"name":`, levels) + "1" + strings.Repeat("}", levels))
	case command == "HGETALL" && harm == Fat:
		return fatHash
	case command == "HGETALL":
		return array(bulk("name"), value)
	case command == "HMGET":
		return array(slices.Repeat([]string{value}, words-2)...) // without the command and the key
	}
	return "+OK\r\n"
}
