#!/usr/bin/env python3
"""GPT-2 here and in transformers, from the same weights on the same text: loss, gradients, greedy texts. Run by the peers' Python.

bench/gpt2_parity.py TEXTS [--build build] [--work FOLDER]

TEXTS: a folder of .txt files, of which the first 200 are read. In fp64 and fp32, one step of gradient descent at a rate of 1024 over
all blocks of a text tells the gradient of each parameter; the peer's loss is computed from its logits, since its own is in fp32
whatever the model's type. Then a run of 200 steps is exported, and both continue the same prompts greedily, token for token.
Differences are relative to the largest number of a parameter's gradient. Exit code 1 where one is above 1e-12 (fp64) or 1e-5 (fp32),
or a text differs.
"""
import argparse
import glob
import os
import pathlib
import subprocess
import sys
import tempfile

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2Config, GPT2LMHeadModel

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LENGTH, POSITIONS, BLOCKS, RATE = 48, 64, 12, 1024
PROMPTS = ["The film", "I did not", "One of the best", "After all these years,", "This movie was made"]
BOUNDS = {"fp64": 1e-12, "fp32": 1e-5}

RECIPE = f"""
recipe: 1
model: {{type: gpt2, weights: gpt2, embd_pdrop: 0, attn_pdrop: 0, resid_pdrop: 0}}
data:
  type: text_folder
  root: one
  task: language_model
  valid: test
  cache: cache
  tokenizer: {{type: bpe, file: tokenizer.json}}
  blocks: {{layout: shuffled, length: {LENGTH}}}
batch: {{global: 16}}
train: {{duration: 200 steps}}
loss: cross_entropy
optimizer: {{type: adamw, lr: 5e-3}}
parallel: {{device: cpu}}
output: {{dir: runs}}
"""


def prepare(folder, texts):
    """Texts, a byte-level BPE of 1,000 tokens trained on them, a GPT-2 with random weights; the tokens of the blocks."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=1000, special_tokens=["<|endoftext|>"],
                                                             initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.save(str(folder / "tokenizer.json"))
    tokens = tokenizer.encode(" ".join(texts[:20])).ids[:LENGTH * BLOCKS + 1]
    for name, several in (("one", [tokenizer.decode(tokens)]), ("many", texts)):
        for split, part in (("train", several), ("test", texts[:3])):
            (folder / name / split).mkdir(parents=True)
            for i, text in enumerate(part):
                (folder / name / split / f"{i:03}.txt").write_text(text)
    torch.manual_seed(5)
    model = GPT2LMHeadModel(GPT2Config(n_layer=3, n_head=4, n_embd=64, n_positions=POSITIONS, vocab_size=tokenizer.get_vocab_size(),
                                       embd_pdrop=0, attn_pdrop=0, resid_pdrop=0, bos_token_id=0, eos_token_id=0))
    model.save_pretrained(folder / "gpt2")
    (folder / "recipe.yaml").write_text(RECIPE)
    return torch.tensor(tokens)


def train(program, folder, name, data, words):
    command = [program, "run", folder / "recipe.yaml", f"name={name}", f"data.root={folder}/{data}", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command}\nended with {done.returncode}:\n{done.stderr[-3000:]}")
    return folder / "runs" / name / "001"


def gradients_here(program, folder, precision):
    run = train(program, folder, precision, "one",
                ["train.duration=1 step", f"batch.global={BLOCKS}", f"train.precision={precision}",
                 f"optimizer={{type: sgd, lr: {RATE}}}"])
    before = load_file(folder / "gpt2/model.safetensors")
    after = load_file(glob.glob(f"{run}/checkpoints/step-*/model.safetensors")[0])
    return {name: (weight.to(after[name].dtype) - after[name]) / RATE for name, weight in before.items() if name in after}


def gradients_there(folder, tokens, dtype):
    model = GPT2LMHeadModel.from_pretrained(folder / "gpt2", attn_implementation="eager").to(dtype)
    logits = model(tokens[:-1].view(BLOCKS, LENGTH)).logits
    torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[1:]).backward()
    return {name: parameter.grad for name, parameter in model.named_parameters()}


def compare_gradients(program, folder, tokens):
    good = True
    for precision, dtype in (("fp64", torch.float64), ("fp32", torch.float32)):
        ours, theirs = gradients_here(program, folder, precision), gradients_there(folder, tokens, dtype)
        assert ours.keys() == theirs.keys(), ours.keys() ^ theirs.keys()
        apart = {name: ((ours[name] - wanted).abs().max() / wanted.abs().max()).item() for name, wanted in theirs.items()}
        worst = max(apart, key=apart.get)
        print(f"{precision}: gradients of {len(apart)} parameters, {apart[worst]:.1e} at most ('{worst}')")
        good = good and apart[worst] <= BOUNDS[precision]
    return good


def compare_texts(program, folder):
    run = train(program, folder, "trained", "many", [])
    subprocess.run([program, "export", run, folder / "exported", "--format", "huggingface"], check=True, capture_output=True)
    model = AutoModelForCausalLM.from_pretrained(folder / "exported").eval()
    tokenizer = AutoTokenizer.from_pretrained(folder / "exported")
    alike = 0
    for prompt in PROMPTS:
        given = tokenizer(prompt, return_tensors="pt")
        before = given["input_ids"].shape[1]
        words = [program, "generate", run, prompt, "--greedy", "--tokens", str(POSITIONS - before)]
        here = subprocess.run(words, check=True, capture_output=True, text=True).stdout.removesuffix("\n")
        ids = model.generate(**given, do_sample=False, max_new_tokens=POSITIONS - before)[0]
        there = tokenizer.decode(ids[before:], skip_special_tokens=True)
        alike += here == there
        if here != there:
            print(f"here:  {here!r}\nthere: {there!r}")
    print(f"greedy texts up to {POSITIONS} tokens: {alike} of {len(PROMPTS)} are the same; the last is {here!r}")
    return alike == len(PROMPTS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=pathlib.Path)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--work", type=pathlib.Path)
    options = parser.parse_args()
    texts = [file.read_text().strip() for file in sorted(options.texts.glob("**/*.txt"))[:200]]
    with tempfile.TemporaryDirectory() as folder:
        work = (options.work or pathlib.Path(folder)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        tokens = prepare(work, texts)
        program = os.path.join(options.build, "ddptrain")
        results = [compare_gradients(program, work, tokens), compare_texts(program, work)]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
