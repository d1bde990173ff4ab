import assert from 'node:assert/strict';
import { EngineError } from '@engraft/engine';
import { RemoteModelError } from '@engraft/learning';
import type { SimulatedRun, SimulatedWorker } from '@engraft/service/testing/simulatedWorker.js';
import { openSimulatedWorld, type SimulatedWorld } from '@engraft/service/testing/simulatedWorld.js';
import type { WorldState } from '@engraft/service/testing/worldState.js';
import { Clients, type Client } from './clients.js';
import { Model } from './model.js';
import type { Operation } from './operations.js';

interface WorkersRun {
  readonly worker: number;
  readonly run: SimulatedRun;
}

/** Little, so that it runs out now and then. */
const creditMicrousd = 30_000_000;
const stepsBetweenLedgers = 20;

/** A history that was played to its end, and what was found then. */
export interface Played {
  readonly steps: number;
  /** Deaths of workers, cut connections, jumps of the clock, lost leases, failures of models. */
  readonly faults: number;
  readonly jobs: number;
  /** How often somebody asked for what is not theirs, or with a key that was revoked. */
  readonly leaks_tried: number;
  readonly lost_jobs: readonly string[];
  readonly double_charges: readonly string[];
}

/** Plays a history on a world of its own; throws at the first step after which something is not as it must be. */
export async function play(history: readonly Operation[]): Promise<Played> {
  const world = await openSimulatedWorld();
  const player = await Player.begin(world);
  try {
    for (const operation of history) await player.step(operation);
    await player.end();
    return await player.findPlayed();
  } finally {
    await player.close();
    await world.close();
  }
}

class Player {
  #runs: WorkersRun[] = [];
  #steps = 0;
  #faults = 0;
  #aheadSeconds = 0;

  private constructor(
    readonly world: SimulatedWorld,
    readonly model: Model,
    readonly clients: Clients,
    readonly workers: SimulatedWorker[],
    public state: WorldState,
  ) {}

  static async begin(world: SimulatedWorld): Promise<Player> {
    const model = new Model();
    const list: Client[] = [];
    for (let count = 0; count < 2; count += 1) {
      const projectId = await world.newProject(creditMicrousd);
      model.grant(projectId, creditMicrousd);
      for (const tenantId of [null, 'acme']) {
        list.push({ project_id: projectId, tenant_id: tenantId, key: await world.newKey(projectId, tenantId) });
      }
    }
    const workers = [world.newWorker(), world.newWorker(), world.newWorker()];
    return new Player(world, model, new Clients(world, model, list), workers, await world.readState());
  }

  async step(operation: Operation): Promise<void> {
    const before = this.state;
    const check = await this.#do(operation, before);
    const after = await this.world.readState();
    this.model.checkStep(before, after);
    check(after);
    this.state = after;
    this.#steps += 1;
    if (this.#steps % stepsBetweenLedgers === 0) assert.deepEqual(await this.world.verifyLedger(), []);
  }

  /** Every worker that was thought dead comes back; then a new one does all that is left. */
  async end(): Promise<void> {
    await this.step({ do: 'clock', by_seconds: 3600 });
    while (this.#runs.length > 0) await this.step({ do: 'advance', run: 0 });
    for (const kind of ['inference', 'internalization'] as const) {
      while (this.state.jobs.some((job) => job.kind === kind && ['queued', 'running'].includes(job.status))) {
        await this.step({ do: 'claim', worker: 0, kind });
        if (this.#runs.length === 0) await this.step({ do: 'clock', by_seconds: 90 });
        while (this.#runs.length > 0) await this.step({ do: 'advance', run: 0 });
      }
    }
    while (this.state.jobs.some(({ status }) => status === 'reconciliation_required')) {
      await this.step({ do: 'resolve', job: 0, share: 0.5 });
    }
    await this.step({ do: 'retain' });
    assert.deepEqual(await this.world.verifyLedger(), []);
    assert.deepEqual(await this.world.findAftermath(), []);
  }

  async findPlayed(): Promise<Played> {
    const jobs = new Set(this.state.jobs.map(({ id }) => id));
    const receipts = [...this.model.admitted.values()].map(({ job_id }) => job_id);
    return {
      steps: this.#steps,
      faults: this.#faults,
      jobs: jobs.size,
      leaks_tried: this.clients.leaks_tried,
      lost_jobs: receipts.filter((id) => !jobs.has(id)),
      double_charges: await this.world.findDoubleCharges(),
    };
  }

  async close(): Promise<void> {
    for (const worker of this.workers) await worker.kill();
  }

  /** Returns what must be true of the state after it. */
  async #do(operation: Operation, before: WorldState): Promise<(after: WorldState) => void> {
    const { world, model, clients } = this;
    switch (operation.do) {
      case 'ask':
      case 'learn':
        await clients.admit(operation, before, this.#nowMs);
        return nothingMore;
      case 'race':
        return clients.race(operation);
      case 'cut':
        this.#faults += 1;
        return clients.cut(operation);
      case 'activate':
        return clients.activate(operation, before, this.#nowMs);
      case 'revoke':
        await clients.revoke(operation.client);
        return nothingMore;
      case 'grant': {
        const { project_id } = clients.at(operation.client);
        assert.equal((await world.grant(project_id, operation.amount_microusd)).kind, 'granted');
        model.grant(project_id, operation.amount_microusd);
        return nothingMore;
      }
      case 'refund':
        return this.#refund(operation, before);
      case 'refundHosting': {
        const { project_id } = clients.at(operation.client);
        await world.refundHosting(project_id);
        assert.equal((await world.refundHosting(project_id)).days, 0, 'a day is refunded twice');
        return nothingMore;
      }
      case 'expire': {
        const version = pick(before.versions, operation.version);
        if (version === undefined) return nothingMore;
        assert.equal((await world.expire(version.id)).kind, 'expired');
        model.expired.add(version.id);
        return nothingMore;
      }
      case 'resolve':
        return this.#resolve(operation, before);
      case 'clock':
        this.#faults += 1;
        this.#aheadSeconds += operation.by_seconds;
        await world.setClock(this.#aheadSeconds);
        return nothingMore;
      case 'retain':
        await world.retain();
        return nothingMore;
      case 'claim':
        return this.#claim(operation, before);
      case 'kill': {
        this.#faults += 1;
        await pickOne(this.workers, operation.worker).kill();
        this.#runs = this.#runs.filter(({ worker }) => worker !== operation.worker % this.workers.length);
        this.workers[operation.worker % this.workers.length] = world.newWorker();
        return (after) => assert.deepEqual(after.jobs, before.jobs, 'a dead worker writes');
      }
      case 'advance':
      case 'stop':
      case 'fail':
        return this.#move(operation, before);
    }
  }

  get #nowMs(): number {
    return Date.now() + this.#aheadSeconds * 1000;
  }

  async #claim(
    { worker, kind }: Extract<Operation, { do: 'claim' }>,
    before: WorldState,
  ): Promise<(after: WorldState) => void> {
    const run = await pickOne(this.workers, worker).claim(kind);
    if (run === null) return nothingMore;
    const was = before.jobs.find(({ id }) => id === run.job_id);
    assert.ok(was !== undefined);
    const mayBeLateMs = 2_000;
    const isFree = was.status === 'queued' || (was.lease_expires_at?.getTime() ?? 0) <= this.#nowMs + mayBeLateMs;
    assert.ok(isFree, `job ${run.job_id} was taken from a worker that held its lease`);
    assert.equal(run.fencing_token, was.fencing_token + 1);
    if (!run.isOver) this.#runs.push({ worker: worker % this.workers.length, run });
    return nothingMore;
  }

  /** A run goes on, fails or is told to stop; of one whose job another has taken, nothing is seen. */
  async #move(
    operation: Extract<Operation, { do: 'advance' | 'stop' | 'fail' }>,
    before: WorldState,
  ): Promise<(after: WorldState) => void> {
    const chosen = pick(this.#runs, operation.run);
    if (chosen === undefined) return nothingMore;
    const { run } = chosen;
    switch (operation.do) {
      case 'advance':
        await run.advance();
        break;
      case 'stop':
        await run.stop(new EngineError('cancelled', 'the simulated worker stops'));
        break;
      case 'fail':
        this.#faults += 1;
        await run.fail(
          operation.how === 'engine'
            ? new EngineError('internal', 'a simulated failure')
            : new RemoteModelError('receipt_missing', 'a simulated silence'),
        );
    }
    if (run.isOver) this.#runs = this.#runs.filter((each) => each !== chosen);
    const was = before.jobs.find(({ id }) => id === run.job_id);
    if (was?.fencing_token === run.fencing_token && was.status === 'running') return nothingMore;
    this.#faults += 1;
    return (after) => {
      assert.deepEqual(after.jobs, before.jobs, 'a worker that lost its lease writes to a job');
      assert.deepEqual(after.versions, before.versions, 'a worker that lost its lease writes to a version');
      assert.deepEqual(after.subjects, before.subjects, 'a worker that lost its lease writes to a subject');
    };
  }

  async #refund(
    { job: index, share }: Extract<Operation, { do: 'refund' }>,
    before: WorldState,
  ): Promise<(after: WorldState) => void> {
    const job = pick(before.jobs, index);
    if (job === undefined) return nothingMore;
    const amountMicrousd = Math.max(1, Math.floor(job.charged_microusd * share));
    const { kind } = await this.world.refund(job.id, amountMicrousd);
    const isCharged = amountMicrousd <= job.charged_microusd;
    const expected = isCharged ? 'refunded' : 'above_charge';
    assert.equal(kind, this.model.refunded.has(job.id) ? 'refunded_before' : expected);
    if (kind === 'refunded') this.model.refunded.add(job.id);
    return (after) => assert.deepEqual(after.jobs, before.jobs, 'a refund changes a job');
  }

  async #resolve(
    { job: index, share }: Extract<Operation, { do: 'resolve' }>,
    before: WorldState,
  ): Promise<(after: WorldState) => void> {
    const unknown = before.jobs.filter(({ status }) => status === 'reconciliation_required');
    const job = pick(unknown, index) ?? pick(before.jobs, index);
    if (job === undefined) return nothingMore;
    const chargedMicrousd = Math.floor(job.reserved_microusd * share);
    const { kind } = await this.world.resolve(job.id, chargedMicrousd);
    if (job.status !== 'reconciliation_required') assert.equal(kind, 'wrong_status');
    else assert.equal(kind, share > 1 ? 'above_reservation' : 'resolved');
    return (after) => {
      const now = after.jobs.find(({ id }) => id === job.id);
      if (kind === 'resolved') assert.equal(now?.charged_microusd, chargedMicrousd);
      else assert.deepEqual(now, job);
    };
  }
}

function nothingMore(): void {
  // Rules for every step are checked in any case.
}

export function pick<Item>(items: readonly Item[], index: number): Item | undefined {
  return items[index % Math.max(1, items.length)];
}

function pickOne<Item>(items: readonly Item[], index: number): Item {
  const item = pick(items, index);
  assert.ok(item !== undefined);
  return item;
}
