# One image for every part of Holdfast: `holdfast proxy` beside Ray's head, and the rest of the commands.
# BASE is an argument, so that a firm can name its own image with Python 3.11 or newer. Both stages need the same one.
ARG BASE=docker.io/library/python:3.11-slim-bookworm

FROM ${BASE} AS build
WORKDIR /build
RUN python3 -m venv /opt/holdfast
COPY requirements/webhook.txt requirements/dev.txt ./
RUN /opt/holdfast/bin/pip install --no-cache-dir --no-compile --require-hashes --only-binary :all: --requirement webhook.txt
COPY pyproject.toml README.md LICENSE ./
COPY serveconfig ./serveconfig
COPY proxy ./proxy
COPY certs ./certs
COPY webhook ./webhook
COPY cli ./cli
# The build backend in the version that the lock knows. (Its hashes cannot be asked for beside a folder's.)
RUN sed -nE 's/^([a-z0-9-]+==[^ ;]+).*/\1/p' dev.txt > pins.txt \
 && PIP_CONSTRAINT=/build/pins.txt /opt/holdfast/bin/pip install --no-cache-dir --no-compile --no-deps . \
 && /opt/holdfast/bin/pip uninstall --quiet --yes pip setuptools
# Compiled without the files' times in it: the same bytes each time, and valid though the image's files get another time.
RUN PYTHONHASHSEED=0 /opt/holdfast/bin/python -m compileall -f -q --invalidation-mode unchecked-hash /opt/holdfast/lib

FROM ${BASE}
COPY --from=build /opt/holdfast /opt/holdfast
# glibc would give a poll's buffers back to the kernel each time, and fault them in again at the next: a tenth of its cost.
ENV MALLOC_TRIM_THRESHOLD_=67108864 MALLOC_MMAP_THRESHOLD_=67108864
USER 65532:65532
ENTRYPOINT ["/opt/holdfast/bin/holdfast"]
CMD ["--help"]
