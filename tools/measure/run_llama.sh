#!/usr/bin/env bash
# Build llama.cpp for one Hopper GPU, give it a model with random weights, and measure it.
#
#   tools/measure/run_llama.sh SOURCE_FOLDER VOCABULARY.gguf OUTPUT_FOLDER
#
# Needs cmake, ninja, nvcc, NumPy, and llama.cpp's source with its gguf-py. No network, no weights from anywhere.
set -uo pipefail
source=$(cd "$1" && pwd) vocabulary=$(realpath "$2")
out=$(mkdir -p "$3" && cd "$3" && pwd)
cd "$(dirname "$0")/../.." || exit 1
build=/tmp/llama-build model=/tmp/llama-models bin=/tmp/llama-build/bin
mkdir -p $model
export PYTHONPATH=$source/gguf-py:${PYTHONPATH:-}
date +%s >"$out/start"
cmake -S "$source" -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90a \
    -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF \
    -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DGGML_NATIVE=ON >"$out/cmake.txt" 2>&1
python3 docs/infer/code/random_gguf.py "$vocabulary" $model/f16.gguf >"$out/gguf.txt" 2>&1 &
timeout 420 cmake --build $build --target llama-quantize llama-bench llama-batched-bench llama-server -j 17 >"$out/build.txt" 2>&1
echo "build $? $(($(date +%s) - $(cat "$out/start"))) s"
wait
for kind in Q8_0 Q4_K_M; do
    timeout 120 $bin/llama-quantize $model/f16.gguf $model/$kind.gguf $kind 16 >"$out/quantize-$kind.txt" 2>&1
done
ls -l $model | awk '{print $5, $9}' | tee "$out/sizes.txt"
echo "made $(($(date +%s) - $(cat "$out/start"))) s"
for kind in f16 Q8_0 Q4_K_M; do
    timeout 60 $bin/llama-bench -m $model/$kind.gguf -ngl 99 -fa 1 -p 512 -n 128 -r 5 -o jsonl >>"$out/llama_bench.jsonl" 2>>"$out/bench.err"
    timeout 60 $bin/llama-batched-bench -m $model/$kind.gguf -ngl 99 -fa on -c 40960 -b 2048 -ub 512 -npp 512 -ntg 64 \
        -npl 1,4,16,32,64 --output-format jsonl >>"$out/batched_$kind.jsonl" 2>>"$out/batched.err"
done
$bin/llama-server -m $model/Q4_K_M.gguf -ngl 99 -fa on -c 32768 -np 8 --metrics --port 8091 >"$out/server.txt" 2>&1 &
server=$!
for _ in $(seq 60); do
    python3 -c 'import urllib.request as u; u.urlopen("http://127.0.0.1:8091/health")' 2>/dev/null && break
    sleep 0.5
done
timeout 60 python3 - >"$out/requests.txt" 2>&1 <<'EOF'
import concurrent.futures, json, time, urllib.request

def ask(n: int) -> str:
    body = {"prompt": "word " * (200 + 50 * n), "n_predict": 128, "ignore_eos": True, "temperature": 1.0}
    start = time.perf_counter()
    request = urllib.request.Request("http://127.0.0.1:8091/completion", json.dumps(body).encode(), {"Content-Type": "application/json"})
    found = json.load(urllib.request.urlopen(request))
    return json.dumps({"n": n, "seconds": round(time.perf_counter() - start, 3), "timings": found["timings"]})

with concurrent.futures.ThreadPoolExecutor(16) as pool:
    for line in pool.map(ask, range(16)):
        print(line)
EOF
python3 -c 'import urllib.request as u; print(u.urlopen("http://127.0.0.1:8091/metrics").read().decode())' >"$out/metrics.txt" 2>&1
kill $server
$bin/llama-server --version >"$out/version.txt" 2>&1
echo "done $(($(date +%s) - $(cat "$out/start"))) s"
