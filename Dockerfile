# syntax=docker/dockerfile:1
# The compiler runs on the builder's own platform and compiles for the image's, so that nothing is emulated.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
ENV CGO_ENABLED=0 GOCACHE=/cache/build GOMODCACHE=/cache/modules
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/cache go mod download
COPY api/ api/
COPY cmd/operator/ cmd/operator/
COPY internal/ internal/
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=dev
RUN --mount=type=cache,target=/cache \
    GOOS=${TARGETOS} GOARCH=${TARGETARCH} go build -trimpath -buildvcs=false \
      -ldflags "-s -w -X github.com/cloudfront-tenant-operator/cloudfront-tenant-operator/internal/operator.Version=${VERSION}" \
      -o /operator ./cmd/operator

# Certificates, time zones and a user, and nothing else: no shell, no package manager.
FROM gcr.io/distroless/static:nonroot
COPY --from=build /operator /operator
USER 65532:65532
ENTRYPOINT ["/operator"]
