# Both base images are named by the digest of their index, which covers all platforms. Dependabot moves tag and digest.
# The compiler runs on the builder's own platform and compiles for the image's, so that nothing is emulated.
FROM --platform=$BUILDPLATFORM golang:1.26.9-bookworm@sha256:d9c68c2c51161e12fd77e4c6320687c9cd86e1af1e3ad6e6cd63ff970641453c AS build
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
FROM gcr.io/distroless/static:nonroot@sha256:f7f8f729987ad0fdf6b05eeeae94b26e6a0f613bdf46feea7fc40f7bd72953e6
COPY --from=build /operator /operator
USER 65532:65532
ENTRYPOINT ["/operator"]
