# The image of the server (`docker build .`), and of the tests through a proxy (`docker build --target test .`).
#
# Both programs are linked statically with Swift's runtime. deploy/container/runtime-root copies their other dependencies
# into an empty image.
ARG SWIFT_IMAGE=swift:6.3-bookworm
ARG DEBIAN_IMAGE=debian:bookworm-slim

FROM ${SWIFT_IMAGE} AS build
RUN apt-get update \
  && apt-get install --yes --no-install-recommends libpq-dev libsqlite3-dev libxml2-dev pkg-config zlib1g-dev \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY Package.swift Package.resolve[d] ./
COPY Sources Sources
# Links in Sources lead to them.
COPY migrations migrations
COPY openapi.yaml ./
COPY deploy/container/add-missing-targets /usr/local/sbin/
# The build folder is cached, so that a change does not rebuild the dependencies and most of the modules.
RUN --mount=type=cache,id=tidings-build,target=/build/.build,sharing=locked \
  add-missing-targets \
  && swift build --configuration release --static-swift-stdlib -Xlinker -s --product tidings \
  && install .build/release/tidings /usr/local/bin

FROM build AS client-build
RUN --mount=type=cache,id=tidings-build,target=/build/.build,sharing=locked \
  swift build --configuration release --static-swift-stdlib -Xlinker -s --product tidings-fetch \
  && install .build/release/tidings-fetch /usr/local/bin

FROM ${DEBIAN_IMAGE} AS runtime
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates libpq5 libstdc++6 libxml2 zlib1g \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local/bin/tidings /usr/local/bin/
COPY deploy/container/runtime-root /usr/local/sbin/
RUN runtime-root /runtime /usr/local/bin/tidings

# Both programs, and the dependencies of the script that simulates editors and readers.
FROM runtime AS test
RUN apt-get update \
  && apt-get install --yes --no-install-recommends curl jq libsqlite3-0 \
  && rm -rf /var/lib/apt/lists/* /runtime && useradd --uid 10001 --create-home tidings
COPY --from=client-build /usr/local/bin/tidings-fetch /usr/local/bin/
COPY deploy/container/end-to-end /usr/local/bin/
USER tidings
CMD ["end-to-end"]

FROM scratch AS server
COPY --from=runtime /runtime /
COPY --from=runtime /usr/local/bin/tidings /usr/local/bin/
COPY deploy/container/healthcheck /usr/lib/tidings/
# A new volume inherits the owner of this folder.
COPY --from=runtime --chown=10001:10001 /runtime/var/lib/tidings /var/lib/tidings
ENV PATH=/usr/local/bin:/usr/bin \
  TIDINGS_HOST=0.0.0.0 \
  TIDINGS_LOG_FORMAT=json
USER 10001:10001
WORKDIR /var/lib/tidings
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=4s --start-period=60s --retries=3 CMD ["/usr/lib/tidings/healthcheck"]
ENTRYPOINT ["tidings"]
CMD ["serve"]
