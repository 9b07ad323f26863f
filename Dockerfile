# Images with the program; docs/installing.md shows how to run them.
#   docker build --tag ddptrain .                        CPU: the tree of `make install`
#   docker build --target cuda --tag ddptrain:cuda .     NVIDIA GPUs: the wheel, and torch with CUDA's libraries
FROM debian:12 AS build
WORKDIR /src
COPY scripts scripts
RUN apt-get update && apt-get install -y --no-install-recommends make && scripts/setup
COPY . .
RUN --mount=type=cache,target=/root/.cache/ccache make install PREFIX=/opt/ddptrain

FROM build AS wheel
RUN --mount=type=cache,target=/root/.cache/ccache make wheel

FROM debian:12-slim AS base
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates curl && rm -rf /var/lib/apt/lists/*
# Recipes read data/ and write runs/, which are /data and /runs here.
RUN useradd --uid 1000 --create-home ddptrain && install -d -o ddptrain -g ddptrain /data /runs && \
    ln -s /data /runs /home/ddptrain
ENV PATH=/opt/ddptrain/bin:/usr/local/bin:/usr/bin:/bin
ENV DDPTRAIN_DATA=/data
VOLUME ["/data", "/runs"]
WORKDIR /home/ddptrain
HEALTHCHECK --interval=5m --timeout=1m CMD ["ddptrain", "doctor"]
ENTRYPOINT ["ddptrain"]
CMD ["help"]

FROM base AS cuda
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv && rm -rf /var/lib/apt/lists/*
COPY --from=wheel /src/build/wheels /tmp/wheels
RUN python3 -m venv /opt/ddptrain && /opt/ddptrain/bin/pip install --no-cache-dir /tmp/wheels/ddptrain-*.whl
USER ddptrain

FROM base AS cpu
COPY --from=build /opt/ddptrain /opt/ddptrain
USER ddptrain
