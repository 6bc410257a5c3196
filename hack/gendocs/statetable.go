package main

import (
	"fmt"
	"strings"

	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/mapping"
	"github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/domain/statetable"
)

const stateTableIntro = `# Columns of a state table

A TenantSource with ` + "`spec.writeBack`" + ` [writes the state of each customer](../state-table.md) to a table with these columns.
The first two are its primary key. The table may have more columns if they have a default or may be NULL.

| column | type | value |
|---|---|---|
`

const definitionsIntro = `
## Definitions

` + "`kubectl cfdt source ddl NAME`" + ` prints the definition for the table of a source. With the table ` + "`edge_state`" + `, these are:
`

// stateTypes are what the reference calls the kinds of columns.
var stateTypes = map[statetable.Kind]string{
	statetable.ID: "text, compared byte by byte", statetable.Text: "text", statetable.Bool: "boolean", statetable.Number: "whole number",
	statetable.Time: "time", statetable.JSON: "JSON",
}

// stateDatabases are the titles of the definitions and how they are highlighted, in the order of the page.
var stateDatabases = []struct {
	provider        mapping.Provider
	title, language string
}{
	{mapping.Postgres, "PostgreSQL", "sql"},
	{mapping.MySQL, "MySQL and MariaDB", "sql"},
	{mapping.MongoDB, "MongoDB and DocumentDB", "js"},
	{mapping.DynamoDB, "DynamoDB", "sh"},
	{mapping.Redis, "Redis and Valkey", ""},
}

func stateTablePage() string {
	var b strings.Builder
	b.WriteString(stateTableIntro)
	for _, c := range statetable.Columns {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.Name, stateTypes[c.Kind], capital(c.About))
	}
	b.WriteString(definitionsIntro)
	for _, d := range stateDatabases {
		fmt.Fprintf(&b, "\n### %s\n\n```%s\n%s\n```\n", d.title, d.language, statetable.Definition(d.provider, "edge_state"))
	}
	return b.String()
}
