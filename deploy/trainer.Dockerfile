# The PEFT trainer, without a checkpoint. Build it at the root of the repository:
#   docker build -f deploy/trainer.Dockerfile -t engraft-trainer:0.1.0 .
FROM python:3.12-slim-bookworm
COPY trainers/peft /tmp/trainer
RUN pip install --no-cache-dir /tmp/trainer && rm -r /tmp/trainer
USER 1000:1000
ENV HF_HUB_OFFLINE=1
EXPOSE 8090
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=300s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8090/')"]
ENTRYPOINT ["engraft-trainer"]
CMD ["--help"]
