/** Losses and gradients of a run, computed one layer at a time: less memory in exchange for a second forward pass. */
import { EngineError, type CallOptions } from '../engine.js';
import { layerWindow } from '../model/config.js';
import {
  buildBackwardGraph,
  buildForwardGraph,
  buildTopGraph,
  hiddenGradient,
  hiddenStates,
  nextHiddenGradient,
  nextHiddenStates,
} from '../model/layerGraphs.js';
import type { Feeds } from '../model/inputs.js';
import { gradientName } from '../model/loraParameters.js';
import { lowerStates } from '../model/trainingGraph.js';
import { embeddingName } from '../model/weights.js';
import { Session } from '../onnx/session.js';
import { SessionCache } from '../onnx/sessionCache.js';
import { Tensor } from '../onnx/tensor.js';
import type { TrainingRun } from './runLayout.js';
import { throwIfCancelled } from '../support/cancelling.js';
import { lowestLayer, type GradientRunner, type TrainingInputs } from './gradientRunner.js';

export class LayerwiseGradientRunner implements GradientRunner {
  private readonly sessions = new SessionCache<string>();
  /** For each layer the first layer of the same structure, whose graph it shares. */
  private readonly models: readonly number[];
  private readonly lowest: number;

  constructor(private readonly inputs: TrainingInputs) {
    const structures = Array.from({ length: inputs.config.layers }, (_, layer) => this.structureOf(layer));
    this.models = structures.map((structure) => structures.indexOf(structure));
    this.lowest = lowestLayer(inputs.modules);
  }

  async run(run: TrainingRun, fetches: Feeds, options: CallOptions): Promise<number> {
    const top = this.inputs.config.layers - 1;
    const given = run.feeds[lowerStates];
    const first = given === undefined ? 0 : this.lowest;
    // The states below the layers from `first` on.
    const hidden = [given ?? this.embed(run)];
    const below = (layer: number): Tensor => hiddenOf(hidden, layer - first);
    for (let layer = first; layer < top; layer += 1) {
      hidden.push(await this.forward(run, layer, below(layer), options));
    }
    const loss = new Float32Array(1);
    let gradient = await this.top(run, below(top), loss, fetches, options);
    for (let layer = top - 1; layer >= this.lowest; layer -= 1) {
      hidden.length = layer - first + 1;
      gradient = await this.backward(run, layer, below(layer), gradient, fetches, options);
    }
    return loss[0] ?? NaN;
  }

  close(): Promise<void> {
    return this.sessions.close();
  }

  /** A key that two layers have in common if they can share a graph. */
  private structureOf(layer: number): string {
    const { config, modules } = this.inputs;
    const own = modules.filter((module) => module.layer === layer);
    const adapted = own.map(({ projection, rank, scale }) => [projection, rank, scale]);
    // The last layer belongs to a graph of its own.
    return JSON.stringify([layer === config.layers - 1, layerWindow(config, layer), adapted]);
  }

  /** The embeddings `[rows * length, hiddenSize]` of the run's tokens. */
  private embed({ feeds, rows, length }: TrainingRun): Tensor {
    const { config, weights } = this.inputs;
    const table = weights[embeddingName]?.data;
    const ids = feeds['ids']?.data;
    if (!(table instanceof Float32Array) || !(ids instanceof BigInt64Array)) {
      throw new EngineError('internal', 'the embedding or the tokens are missing');
    }
    const width = config.hiddenSize;
    const hidden = new Float32Array(ids.length * width);
    for (const [row, id] of ids.entries()) {
      hidden.set(table.subarray(Number(id) * width, (Number(id) + 1) * width), row * width);
    }
    return new Tensor(hidden, [rows * length, width]);
  }

  private async forward(run: TrainingRun, layer: number, hidden: Tensor, options: CallOptions): Promise<Tensor> {
    const model = this.models[layer] ?? layer;
    const { packed } = run;
    const { config, format } = this.inputs;
    const session = await this.session(`forward ${model} ${packed}`, () =>
      buildForwardGraph(config, model, { modules: this.modulesOf(model), packed, format }),
    );
    const feeds = { ...run.feeds, [hiddenStates]: hidden };
    const next = emptyLike(hidden);
    await this.runLayer(session, layer, feeds, { [nextHiddenStates]: next }, options);
    return next;
  }

  /** Returns the gradient of `hidden`, or `hidden` itself if that is not needed. */
  private async backward(
    run: TrainingRun,
    layer: number,
    hidden: Tensor,
    gradient: Tensor,
    fetches: Feeds,
    options: CallOptions,
  ): Promise<Tensor> {
    const model = this.models[layer] ?? layer;
    const { packed } = run;
    const { config, format } = this.inputs;
    const inputGradient = layer > this.lowest;
    const session = await this.session(`backward ${model} ${packed} ${inputGradient}`, () =>
      buildBackwardGraph(config, model, { modules: this.modulesOf(model), packed, inputGradient, format }),
    );
    const feeds = { ...run.feeds, [hiddenStates]: hidden, [nextHiddenGradient]: gradient };
    const below = inputGradient ? emptyLike(hidden) : hidden;
    const wanted = { ...this.gradientsOf(layer, fetches), ...(inputGradient ? { [hiddenGradient]: below } : {}) };
    await this.runLayer(session, layer, feeds, wanted, options);
    return below;
  }

  /** Like `backward`, for the last layer with the head and the loss. Writes the loss to `loss`. */
  private async top(
    run: TrainingRun,
    hidden: Tensor,
    loss: Float32Array,
    fetches: Feeds,
    options: CallOptions,
  ): Promise<Tensor> {
    const { packed } = run;
    const { config, format } = this.inputs;
    const layer = config.layers - 1;
    const inputGradient = layer > this.lowest;
    const session = await this.session(`top ${packed}`, () =>
      buildTopGraph(config, { modules: this.modulesOf(layer), packed, inputGradient, format }),
    );
    const feeds = { ...run.feeds, [hiddenStates]: hidden };
    const below = inputGradient ? emptyLike(hidden) : hidden;
    const wanted = {
      ...this.gradientsOf(layer, fetches),
      ...(inputGradient ? { [hiddenGradient]: below } : {}),
      loss: new Tensor(loss, []),
    };
    await this.runLayer(session, layer, feeds, wanted, options);
    return below;
  }

  /** Runs a graph that was built for one layer with the weights of another. */
  private runLayer(session: Session, layer: number, local: Feeds, fetches: Feeds, options: CallOptions): Promise<void> {
    throwIfCancelled(options);
    const { weights, matrices } = this.inputs;
    const [from, to] = [layerPrefix(this.models[layer] ?? layer), layerPrefix(layer)];
    const feeds: Record<string, Tensor> = {};
    for (const name of session.inputNames) {
      const own = name.startsWith(from) ? to + name.slice(from.length) : name;
      const tensor = local[name] ?? weights[own] ?? matrices[own];
      if (tensor === undefined) throw new EngineError('internal', `there is nothing to feed to ${name}`);
      feeds[name] = tensor;
    }
    return session.run([feeds], [fetches]);
  }

  private session(key: string, build: () => Buffer): Promise<Session> {
    return this.sessions.get(key, () => Session.create(build(), { threads: this.inputs.threads }));
  }

  private modulesOf(layer: number): TrainingInputs['modules'] {
    return this.inputs.modules.filter((module) => module.layer === layer);
  }

  /** The tensors for a layer's gradients, under their names in the shared graph. */
  private gradientsOf(layer: number, fetches: Feeds): Feeds {
    const [from, to] = [gradientName(layerPrefix(layer)), gradientName(layerPrefix(this.models[layer] ?? layer))];
    const own = Object.entries(fetches).filter(([name]) => name.startsWith(from));
    return Object.fromEntries(own.map(([name, tensor]) => [to + name.slice(from.length), tensor]));
  }
}

function layerPrefix(layer: number): string {
  return `model.layers.${layer}.`;
}

function hiddenOf(hidden: readonly Tensor[], index: number): Tensor {
  const states = hidden[index];
  if (states === undefined) throw new EngineError('internal', `there are no hidden states at index ${index}`);
  return states;
}

/** Memory for the next hidden states, or for their gradient. */
function emptyLike({ data, dims }: Tensor): Tensor {
  return new Tensor(new Float32Array(data.length), dims);
}
