# Any app: docker build --build-arg APP=edge-redirect .
# The base image's version stands here; those of the servers beside our apps in docker-compose.yml.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

# Manifests alone, so that the layer of dependencies is made anew only when one of them changes.
FROM ${NODE_IMAGE} AS manifests
WORKDIR /sluice
COPY . .
RUN find . -type f ! -name package.json ! -name 'pnpm-*.yaml' ! -path './patches/*' -delete \
 && find . -type d -empty -delete

FROM ${NODE_IMAGE} AS dependencies
ARG APP
WORKDIR /sluice
COPY --from=manifests /sluice ./
# `sluice replay` runs a program of the ingester's.
RUN --mount=type=cache,id=sluice-pnpm,target=/pnpm \
    also="$([ "$APP" != cli ] || echo '--filter-prod=@sluice/click-ingester...')" \
 && npx --yes "$(node -p 'require("./package.json").packageManager')" install --prod --frozen-lockfile \
      --store-dir=/pnpm --package-import-method=copy --filter-prod "@sluice/$APP..." $also
# What the sources bring again.
RUN find . -type f -not -path '*/node_modules/*' -delete && find . -type d -empty -delete
# Data about places is as large as all else and changes by itself: a layer of its own.
RUN mkdir -p /geo/node_modules/.pnpm \
 && find node_modules/.pnpm -maxdepth 1 -name '@ip-location-db*' -exec mv {} /geo/node_modules/.pnpm/ \;

FROM ${NODE_IMAGE} AS sources
ARG APP
WORKDIR /sluice
COPY . .
# What the app consists of is what got its dependencies; each of ours has some.
COPY --from=dependencies /sluice /installed
RUN for folder in apps/* packages/*; do [ -d "/installed/$folder/node_modules" ] || rm -r "$folder"; done \
 && rm -r patches pnpm-*.yaml \
 && ln -s "apps/$APP" app

FROM ${NODE_IMAGE}
ARG APP
ARG VERSION=0.1.0
ARG REVISION=unknown
WORKDIR /sluice
# Everything belongs to root: what runs as 1000 can read it and change nothing.
COPY --from=dependencies /geo ./
COPY --from=dependencies /sluice ./
COPY --from=sources /sluice ./
# Node keeps what it compiled in a folder of the user whom it runs as.
ENV NODE_ENV=production NODE_COMPILE_CACHE=/sluice/.compiled
RUN install -d -o 1000 -g 1000 .compiled /data
USER 1000:1000
RUN node infra/image/warm.ts
ENV OPS_HOST=0.0.0.0 JOURNAL_DIR=/data SLUICE_DATA_DIR=/data
LABEL org.opencontainers.image.title="sluice/${APP}" \
      org.opencontainers.image.description="A click-event pipeline for URL shorteners that never drops an event" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0"
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 CMD ["node", "infra/image/healthy.ts"]
ENTRYPOINT ["node", "app/src/main.ts"]
