CREATE TABLE "edge"."st""a`te" (
  "source" text NOT NULL,
  "row_key" text NOT NULL,
  "namespace" text NOT NULL,
  "name" text NOT NULL,
  "state" text NOT NULL,
  "ready" boolean NOT NULL,
  "reason" text NOT NULL,
  "message" text NOT NULL,
  "domains" jsonb NOT NULL,
  "dns_target" text NOT NULL,
  "tenant_id" text NOT NULL,
  "certificate_expires" timestamptz NULL,
  "generation" bigint NOT NULL,
  "revision" text NOT NULL,
  "since" timestamptz NULL,
  "version" bigint NOT NULL,
  "updated" timestamptz NOT NULL,
  PRIMARY KEY ("source", "row_key")
);

SELECT "source", "row_key", "namespace", "name", "state", "ready", "reason", "message", "domains", "dns_target", "tenant_id", "certificate_expires", "generation", "revision", "since", "version", "updated" FROM "edge"."st""a`te"

INSERT INTO "edge"."st""a`te" ("source", "row_key", "namespace", "name", "state", "ready", "reason", "message", "domains", "dns_target", "tenant_id", "certificate_expires", "generation", "revision", "since", "version", "updated") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17), ($18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34) ON CONFLICT ("source", "row_key") DO UPDATE SET "namespace" = EXCLUDED."namespace", "name" = EXCLUDED."name", "state" = EXCLUDED."state", "ready" = EXCLUDED."ready", "reason" = EXCLUDED."reason", "message" = EXCLUDED."message", "domains" = EXCLUDED."domains", "dns_target" = EXCLUDED."dns_target", "tenant_id" = EXCLUDED."tenant_id", "certificate_expires" = EXCLUDED."certificate_expires", "generation" = EXCLUDED."generation", "revision" = EXCLUDED."revision", "since" = EXCLUDED."since", "version" = EXCLUDED."version", "updated" = EXCLUDED."updated" WHERE "edge"."st""a`te"."version" <= EXCLUDED."version"

DELETE FROM "edge"."st""a`te" WHERE "source" = $1 AND "row_key" = $2 AND "version" <= $3
