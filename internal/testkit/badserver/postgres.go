package badserver

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strings"
)

// message is one of PostgreSQL's.
func message(kind byte, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4)), body...)
}

var (
	ready = message('Z', []byte{'I'})
	// columns describe rows of a domain and a name, which are texts.
	columns = message('T', slices.Concat([]byte{0, 2}, []byte("domain\x00"), textColumn, []byte("name\x00"), textColumn))
	// textColumn is what is said of a column after its name.
	textColumn = []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0}
	done       = message('C', []byte("OK\x00"))
)

// startup reads what a client begins with, and lets it in.
func startup(from *bufio.Reader, to io.Writer) error {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return err
	}
	if _, err := from.Discard(int(binary.BigEndian.Uint32(length[:])) - len(length)); err != nil {
		return err
	}
	_, err := to.Write(append(message('R', make([]byte, 4)), ready...))
	return err
}

// speakPostgres lets its client in and does its harm with the rows of the query that names the table customers.
func speakPostgres(harm Harm, from *bufio.Reader, to io.Writer, wait func() bool) error {
	if err := startup(from, to); err != nil {
		return err
	}
	statement := ""
	for {
		var header [5]byte
		if _, err := io.ReadFull(from, header[:]); err != nil {
			return err
		}
		body := make([]byte, binary.BigEndian.Uint32(header[1:])-4)
		if _, err := io.ReadFull(from, body); err != nil {
			return err
		}
		var answer []byte
		switch header[0] {
		case 'Q':
			answer = append(done, ready...)
		case 'P':
			statement, answer = string(body), message('1', nil)
		case 'B':
			answer = message('2', nil)
		case 'D':
			if body[0] == 'S' {
				answer = message('t', []byte{0, 0})
			}
			answer = append(answer, columns...)
		case 'E':
			if strings.Contains(statement, "customers") {
				return harmPostgres(harm, to, wait)
			}
			answer = done
		case 'S':
			answer = ready
		case 'X':
			return nil
		}
		if _, err := to.Write(answer); err != nil {
			return err
		}
	}
}

func harmPostgres(harm Harm, to io.Writer, wait func() bool) error {
	switch harm {
	case Huge:
		_, err := to.Write(binary.BigEndian.AppendUint32([]byte{'D'}, math.MaxInt32))
		if err != nil {
			return err
		}
		wait()
		return nil
	case Flood:
		if _, err := to.Write(binary.BigEndian.AppendUint32([]byte{'D'}, math.MaxInt32)); err != nil {
			return err
		}
		return flood(to)
	default:
	}
	return rows(harm, to, wait, func(length int) []byte {
		const before = 15 // the length of the message itself, the number of columns, the domain, and the length of the name
		header := binary.BigEndian.AppendUint32([]byte{'D'}, uint32(length+before))
		return binary.BigEndian.AppendUint32(append(header, 0, 2, 0, 0, 0, 1, '1'), uint32(length))
	})
}
