package mysql

import (
	"database/sql/driver"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/adapter/source/store"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
)

// kind is what is made of the values of a column.
type kind struct {
	// name is the driver's name of its type, such as VARCHAR.
	name string
	// boolean columns are TINYINT(1) and BIT(1).
	boolean bool
}

func kinds(rows driver.Rows, count int) []kind {
	all := make([]kind, count)
	typed, ok := rows.(driver.RowsColumnTypeDatabaseTypeName)
	for i := range all {
		if ok {
			all[i].name = typed.ColumnTypeDatabaseTypeName(i)
		}
		all[i].boolean = (all[i].name == "TINYINT" || all[i].name == "BIT") && length(rows, i) == 1
	}
	return all
}

// length is the display width of a column, 0 if it can't be told. Only it tells a BOOLEAN from a small number. The driver
// reads it and does not return it, so it is read from the driver's own field. A driver that moves the field makes numbers
// of booleans, which a test with a real server would show.
func length(rows driver.Rows, column int) uint64 {
	columns := reflect.Indirect(reflect.ValueOf(rows))
	for _, name := range []string{"rs", "columns"} {
		if columns.Kind() != reflect.Struct {
			return 0
		}
		columns = columns.FieldByName(name)
	}
	if columns.Kind() != reflect.Slice || column >= columns.Len() || columns.Index(column).Kind() != reflect.Struct {
		return 0
	}
	if field := columns.Index(column).FieldByName("length"); field.IsValid() && field.CanUint() {
		return field.Uint()
	}
	return 0
}

// column is the type that the domain knows.
func (k kind) column() mapping.Type {
	if k.boolean {
		return mapping.TypeBoolean
	}
	switch strings.TrimPrefix(k.name, "UNSIGNED ") {
	case "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "YEAR", "DECIMAL", "FLOAT", "DOUBLE", "BIT":
		return mapping.TypeNumber
	case "DATETIME", "TIMESTAMP":
		return mapping.TypeTime
	case "JSON":
		// A document may be an object, a list, or less.
		return mapping.TypeObject
	case "BLOB", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB", "BINARY", "VARBINARY", "GEOMETRY", "VECTOR", "NULL":
		return mapping.TypeOther
	}
	return mapping.TypeString
}

// value makes a value of what the driver read from the text protocol. Its bytes are the driver's, until the next row.
func (k kind) value(value driver.Value) any {
	switch v := value.(type) {
	case nil:
		return nil
	case int64:
		if k.boolean && (v == 0 || v == 1) {
			return v == 1
		}
		return v
	case uint64:
		return store.Number(strconv.FormatUint(v, 10))
	case float32:
		// The shortest text that is this float32 is what was written: 1.1, and not 1.10000002384.
		f, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
		return f
	case float64:
		return v
	case []byte:
		return k.text(v)
	}
	return mapping.Unsupported(fmt.Sprintf("%s as %T", k.name, value))
}

func (k kind) text(bytes []byte) any {
	switch k.column() {
	case mapping.TypeBoolean, mapping.TypeNumber:
		if k.name == "BIT" {
			return k.bits(bytes)
		}
		return store.Number(string(bytes))
	case mapping.TypeTime:
		return instant(string(bytes))
	case mapping.TypeObject:
		return store.JSON(string(bytes))
	case mapping.TypeOther:
		return mapping.Unsupported(strings.ToLower(k.name))
	default:
		if k.name == "DATE" && string(bytes) == "0000-00-00" {
			return nil
		}
		return store.Text(string(bytes), mapping.Unsupported(strings.ToLower(k.name)+" that is not UTF-8"))
	}
}

// bits makes a number of at most 64 bits, the greatest first.
func (k kind) bits(bytes []byte) any {
	var n uint64
	for _, b := range bytes {
		n = n<<8 | uint64(b)
	}
	if k.boolean {
		return n != 0
	}
	return store.Number(strconv.FormatUint(n, 10))
}

// instant leaves what is no time, such as a month of zero, as text.
func instant(text string) any {
	if strings.HasPrefix(text, "0000-00-00") {
		return nil
	}
	t, err := time.ParseInLocation("2006-01-02 15:04:05.999999", text, time.UTC)
	if err != nil {
		return text
	}
	return t
}
