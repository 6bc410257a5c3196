package badserver

import (
	"bufio"
	"bytes"
	"io"
)

// longestPacket is MySQL's: longer data continue in the next packet.
const longestPacket = 1<<24 - 1

// packet is one of MySQL's.
func packet(sequence byte, body []byte) []byte {
	n := len(body)
	return append([]byte{byte(n), byte(n >> 8), byte(n >> 16), sequence}, body...)
}

func readPacket(from *bufio.Reader) (sequence byte, body []byte, err error) {
	var header [4]byte
	if _, err := io.ReadFull(from, header[:]); err != nil {
		return 0, nil, err
	}
	body = make([]byte, int(header[0])|int(header[1])<<8|int(header[2])<<16)
	_, err = io.ReadFull(from, body)
	return header[3], body, err
}

// lengthOf stands before a text of less than 16 MiB.
func lengthOf(n int) []byte {
	const oneByte = 251
	if n < oneByte {
		return []byte{byte(n)}
	}
	return []byte{0xfd, byte(n), byte(n >> 8), byte(n >> 16)}
}

func lengthEncoded(text string) []byte { return append(lengthOf(len(text)), text...) }

var (
	// greeting is that of a server with version, authentication by native password, and nothing else.
	greeting = append(append([]byte("\x0a8.0.0\x00\x01\x00\x00\x00saltsalt\x00\x0f\xa2\xff\x02\x00\x08\x00\x15"), make([]byte, 10)...), "saltsaltsalt\x00mysql_native_password\x00"...)
	okay     = []byte{0, 0, 0, 2, 0, 0, 0}
	eof      = []byte{0xfe, 0, 0, 2, 0}
)

// column describes a text column.
func column(name string) []byte {
	c := []byte("\x03def\x00\x00\x00")
	c = append(append(c, byte(len(name))), name...)
	return append(c, 0, 0x0c, 0x2d, 0, 0, 0, 0, 0, 0xfd, 0, 0, 0, 0, 0)
}

// speakMySQL lets its client in and does its harm with the rows of the query that names the table customers.
func speakMySQL(harm Harm, from *bufio.Reader, to io.Writer, wait func() bool) error {
	if _, err := to.Write(packet(0, greeting)); err != nil {
		return err
	}
	sequence, _, err := readPacket(from)
	if err != nil {
		return err
	}
	if _, err := to.Write(packet(sequence+1, okay)); err != nil {
		return err
	}
	for {
		_, body, err := readPacket(from)
		switch {
		case err != nil:
			return err
		case bytes.Contains(body, []byte("customers")):
			return harmMySQL(harm, to, wait)
		case bytes.Contains(body, []byte("VERSION()")):
			answer := bytes.Join([][]byte{
				packet(1, []byte{2}), packet(2, column("version")), packet(3, column("id")), packet(4, eof),
				packet(5, append(lengthEncoded("8.0.0"), lengthEncoded("1")...)), packet(6, eof),
			}, nil)
			_, err = to.Write(answer)
		default:
			_, err = to.Write(packet(1, okay))
		}
		if err != nil {
			return err
		}
	}
}

func harmMySQL(harm Harm, to io.Writer, wait func() bool) error {
	if _, err := to.Write(bytes.Join([][]byte{packet(1, []byte{2}), packet(2, column("domain")), packet(3, column("name")), packet(4, eof)}, nil)); err != nil {
		return err
	}
	sequence := byte(5)
	next := func() byte {
		sequence++
		return sequence - 1
	}
	switch harm {
	case Huge:
		// The length of a text, which has no part in that of the packet.
		_, err := to.Write(packet(next(), []byte{1, '1', 0xfe, 0, 0, 0, 0, 0, 1, 0, 0}))
		if err != nil {
			return err
		}
		wait()
		return nil
	case Flood:
		longest := packet(0, make([]byte, longestPacket))
		for {
			longest[3] = next()
			if _, err := to.Write(longest); err != nil {
				return err
			}
		}
	default:
	}
	return rows(harm, to, wait, func(length int) []byte {
		value := append([]byte{1, '1'}, lengthOf(length)...)
		n := length + len(value)
		return append([]byte{byte(n), byte(n >> 8), byte(n >> 16), next()}, value...)
	})
}
