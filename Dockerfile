# For grader/grading/cohort/recipes/kuberay.yaml, with CUDA and Ray: `docker build --target cohort -t NAME .`
FROM python:3.13-slim AS cohort
# gcc: Triton compiles launchers with it. wget: KubeRay asks by it whether a node lives.
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev wget && rm -rf /var/lib/apt/lists/*
COPY . /course
RUN pip install --no-cache-dir '/course[cohort]' && useradd --create-home ray
USER ray

# The course with PyTorch's CPU build. `docker build -t triton-track .`, then `docker run --rm -it triton-track` plays the tour.
FROM python:3.13-slim
RUN useradd --create-home learner && mkdir /course && chown learner /course
USER learner
WORKDIR /course
COPY --chown=learner . .
# Sets everything up, and proves it: a warm-up from skeleton to pass.
RUN ./track tour
CMD ["./track", "tour"]
