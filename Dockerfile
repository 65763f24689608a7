# One image definition for every service: docker build --build-arg SERVICE=recorder .
# What stands in a bracket of its own can be exchanged: the base image, torch, the package index.
ARG BASE=python:3.11-slim-bookworm

# hadolint ignore=DL3006
FROM ${BASE} AS build
# The machine's own package index, certificate and wheels, where it has any; they stay in this stage.
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
ARG UV_VERSION=0.13.8
# Compiled files hold a hash of their source instead of its time, so that two builds are equal.
ENV UV_LINK_MODE=copy UV_COMPILE_BYTECODE=1 PYC_INVALIDATION_MODE=UNCHECKED_HASH \
    PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY deploy/image/install /usr/local/bin/install-locked
COPY deploy/image/wheels/ /wheels/
RUN python -m venv /uv \
 && /uv/bin/pip install --quiet "uv==${UV_VERSION}" \
 && python -m venv --without-pip /opt/biaswatch
WORKDIR /src
COPY requirements/ requirements/
COPY pyproject.toml README.md ./
# The base of every service comes first, so that the builds of all of them share it.
RUN install-locked recorder
ARG SERVICE
ARG TORCH=none
ARG TORCH_VERSION
# Extras of the operator's choice, such as "parquet" for answers of live systems in files.
ARG EXTRAS
RUN install-locked "${SERVICE:?name the service: --build-arg SERVICE=recorder}" "${TORCH}" "${TORCH_VERSION}"
COPY shared/ shared/
COPY services/ services/
COPY biaswatch/ biaswatch/
COPY suites/ suites/
RUN install-locked --project

# hadolint ignore=DL3006
FROM ${BASE}
ARG SERVICE
ARG VERSION=0.2.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="biaswatch-${SERVICE}" \
      org.opencontainers.image.description="Measures social bias in large language models: the ${SERVICE}." \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /opt/biaswatch /opt/biaswatch
COPY deploy/image/healthy.py /opt/healthy.py
# A pod has about one core: threads of the linear algebra that wait for one another only burn it.
# A home that can be written even where the root is read-only and the user has no name.
ENV PATH=/opt/biaswatch/bin:/usr/local/bin:/usr/bin:/bin \
    HOME=/tmp \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    OPENBLAS_NUM_THREADS=1 \
    SERVICE=${SERVICE}
WORKDIR /tmp
USER 10001:10001
EXPOSE 9797
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=4s --start-period=20s --retries=6 CMD ["python", "/opt/healthy.py"]
# The shell gives its place to Python, which therefore hears the signals.
CMD ["sh", "-c", "exec python -m biaswatch.services.${SERVICE}.app"]
