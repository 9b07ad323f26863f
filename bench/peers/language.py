"""What transformers and tokenizers need for language models: numbers of one process, as JSON.

python bench/peers/language.py FOLDER prepare --texts IMDB --program ddptrain
python bench/peers/language.py FOLDER tokenize|trainer|generate

prepare: 12,000 reviews as JSON lines, a byte-level BPE of 50,257 tokens trained on them, a GPT-2 of 6 layers 384 wide
with random weights, and a run of ddptrain that has the same ones.
tokenize: reads the JSON lines and writes their tokens as uint16; one thread.
trainer: one step of Trainer, two blocks of 64 tokens of 64 of the reviews, GPT-2 of 2 layers 64 wide.
generate: 128 tokens behind a prompt, greedy, with the cache; tokens per second, the median of five times after one.
"""
import argparse
import json
import os
import pathlib
import subprocess
import time

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

LAYERS, WIDTH, BLOCK, TOKENS = 6, 384, 256, 128
SMALL_LAYERS, SMALL_WIDTH, SMALL_BLOCK, SMALL_BATCH = 2, 64, 64, 2
PROMPT = "The film was made in the winter of"
RECIPE = """name: bench
model: {model}
data:
  type: text_jsonl
  file: {folder}/{texts}
  text: [text]
  task: language_model
  cache: {folder}/cache
  tokenizer: {{type: bpe, file: {folder}/tokenizer.json}}
  blocks: {{layout: shuffled, length: {block}}}
  valid: {{fraction: 0.02}}
batch: {{global: {batch}}}
train: {{duration: 1 step, threads: 2}}
loss: {{type: cross_entropy}}
metrics: [perplexity]
optimizer: {{type: adamw, lr: 0}}
schedule: {{type: constant}}
eval: {{every: 1 step}}
parallel: {{device: cpu}}
"""


def write_lines(path, texts):
    path.write_text("".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts))


def prepare(folder, args):
    if (folder / "runs" / "bench").exists():
        return
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel

    files = sorted(pathlib.Path(args.texts, "train").glob("*/*.txt"))[:12000]
    texts = [file.read_text() for file in files]
    folder.mkdir(parents=True, exist_ok=True)
    write_lines(folder / "many.jsonl", texts)
    write_lines(folder / "few.jsonl", texts[:64])
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=50257, special_tokens=["<|endoftext|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.save(str(folder / "tokenizer.json"))
    config = GPT2Config(n_layer=LAYERS, n_head=LAYERS, n_embd=WIDTH, n_positions=BLOCK, embd_pdrop=0, attn_pdrop=0,
                        resid_pdrop=0, vocab_size=tokenizer.get_vocab_size())
    GPT2LMHeadModel(config).save_pretrained(folder / "gpt2")
    home = folder.resolve()
    large = f"{{type: gpt2, weights: {home}/gpt2}}"
    small = f"{{type: gpt2, n_layer: {SMALL_LAYERS}, n_head: 2, n_embd: {SMALL_WIDTH}, n_positions: {SMALL_BLOCK}}}"
    for name, model, texts, block, batch in (("recipe", large, "few.jsonl", BLOCK, 8),
                                             ("tokens", large, "many.jsonl", BLOCK, 8),
                                             ("small", small, "few.jsonl", SMALL_BLOCK, SMALL_BATCH)):
        (folder / f"{name}.yaml").write_text(
            RECIPE.format(folder=home, model=model, texts=texts, block=block, batch=batch))
    subprocess.run([args.program, "run", folder / "recipe.yaml", f"output.dir={folder / 'runs'}"], check=True)


def tokenize(folder, _):
    import numpy
    from tokenizers import Tokenizer

    start = time.perf_counter()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    with open(folder / "many.jsonl") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    ids = [each.ids for each in tokenizer.encode_batch_fast(texts)]
    numpy.concatenate([numpy.asarray(each, dtype=numpy.uint16) for each in ids]).tofile(folder / "peer.tokens")
    return {"tokens": sum(map(len, ids)), "seconds": time.perf_counter() - start}


def trainer(folder, _):
    import torch
    from transformers import (DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel,
                              PreTrainedTokenizerFast, Trainer, TrainingArguments)

    torch.set_num_threads(2)
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), pad_token="<|endoftext|>")
    texts = [json.loads(line)["text"] for line in open(folder / "few.jsonl")]
    ids = [token for text in texts for token in tokenizer(text)["input_ids"]]
    blocks = [{"input_ids": ids[i:i + SMALL_BLOCK]} for i in range(0, len(ids) - SMALL_BLOCK, SMALL_BLOCK)]
    model = GPT2LMHeadModel(GPT2Config(n_layer=SMALL_LAYERS, n_head=2, n_embd=SMALL_WIDTH, n_positions=SMALL_BLOCK,
                                       vocab_size=tokenizer.vocab_size))
    arguments = TrainingArguments(output_dir=str(folder / "trainer"), max_steps=1,
                                  per_device_train_batch_size=SMALL_BATCH,
                                  report_to="none", use_cpu=True, save_strategy="no")
    Trainer(model=model, args=arguments, train_dataset=blocks,
            data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False)).train()
    return {"steps": 1}


def generate(folder, _):
    import torch
    from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

    torch.set_num_threads(2)
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    model = GPT2LMHeadModel.from_pretrained(folder / "gpt2").eval()
    text = tokenizer(PROMPT, return_tensors="pt")["input_ids"]
    seconds = []
    for _ in range(6):
        start = time.perf_counter()
        model.generate(text, attention_mask=torch.ones_like(text), max_new_tokens=TOKENS, min_new_tokens=TOKENS,
                       do_sample=False, pad_token_id=0)
        seconds.append(time.perf_counter() - start)
    return {"tokens_per_second": TOKENS / sorted(seconds[1:])[2]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("what", choices=["prepare", "tokenize", "trainer", "generate"])
    parser.add_argument("--texts")
    parser.add_argument("--program")
    args = parser.parse_args()
    figures = globals()[args.what](args.folder, args)
    if figures:
        print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
