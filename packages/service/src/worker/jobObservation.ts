import type { JobKind, JobPhase, TokenUsage } from '@engraft/contract';
import type { Engine } from '@engraft/engine';
import { ROOT_CONTEXT, SpanKind, trace, type Context, type Link } from '@opentelemetry/api';
import { usageOfProgress } from '@engraft/learning';
import type { ClaimedJob } from '../jobs/claimJob.js';
import {
  endFailed,
  errorTypeOf,
  openSpan,
  spanContextOf,
  traceIdOf,
  type OpenSpan,
  type Tracing,
} from '../tracing/tracing.js';
import type { RunOutcome } from './jobContext.js';
import { observedEngine, type EngineCall, type EngineCallName } from './observedEngine.js';
import { areNoTokens } from './tokenCounts.js';
import type { WorkerMetrics } from './workerMetrics.js';
import { WorkMeter, type WorkEnd, type WorkReport } from './workMeter.js';

/** Observes one run of a job: its spans, its measurements, and the work that it repeats. */
export class JobObservation {
  readonly engine: Engine;
  readonly work: WorkMeter;
  readonly #kind: JobKind;
  readonly #waitedMs: number;
  readonly #job: OpenSpan;
  readonly #startedMs = performance.now();
  #phase: (OpenSpan & { readonly phase: JobPhase; readonly startedMs: number }) | null = null;
  #charged: TokenUsage | null = null;
  #hasLostCall = false;

  constructor(
    job: ClaimedJob,
    engine: Engine,
    readonly tracing: Tracing,
    readonly metrics: WorkerMetrics | undefined,
  ) {
    const { kind, usage, taken_over } = job;
    this.#kind = kind;
    this.#waitedMs = job.waited_ms;
    this.work = new WorkMeter({ usage, kept: usageOfProgress(job.training_progress), taken_over });
    this.#job = openJobSpan(tracing, job);
    if (taken_over) metrics?.takenOver(kind);
    this.engine = observedEngine(engine, {
      begun: (name) => this.#call(name),
      done: (done) => {
        this.work.done(done);
        metrics?.engineTokens(kind, done);
      },
      lost: () => {
        this.#hasLostCall = true;
        this.work.lostCall();
        metrics?.callLost(kind);
      },
    });
  }

  /** Whether a process of the engine was lost with a call of this run. */
  get hasLostCall(): boolean {
    return this.#hasLostCall;
  }

  /** The trace's id for log and exemplars. `null` if no trace is taken. */
  get trace_id(): string | null {
    return traceIdOf(this.#job.span);
  }

  /**
   * A phase of a learning job begins, which ends the one before. If the same phase begins again, the engine cut it off.
   */
  entered(phase: JobPhase): void {
    this.#endPhase(this.#phase?.phase === phase ? 'cut_off' : 'done');
    const span = openSpan(this.tracing.tracer, `phase ${phase}`, this.#job.context);
    this.#phase = { ...span, phase, startedMs: performance.now() };
  }

  /** The job is about to end with this usage, which is charged. */
  charged(usage: TokenUsage): void {
    this.#charged = usage;
  }

  /** The run has ended, and nothing is observed any more. */
  end(outcome: RunOutcome): WorkReport {
    const { span } = this.#job;
    this.#endPhase(this.#charged === null ? 'cut_off' : 'done');
    const report = this.work.end(workEndOf(outcome, this.#charged), this.#charged ?? undefined);
    const word = outcome.kind === 'ended' ? outcome.status : outcome.kind;
    span.setAttribute('engraft.job.outcome', word);
    if (!areNoTokens(report.repeated)) span.setAttributes(repeatedAttributes(report.repeated));
    const errorCode = outcome.kind === 'ended' ? outcome.error_code : undefined;
    if (word === 'failed' || word === 'reconciliation_required' || word === 'lost') endFailed(span, errorCode ?? word);
    else span.end();
    const seconds = { run: (performance.now() - this.#startedMs) / 1000, wait: this.#waitedMs / 1000 };
    this.metrics?.observe(this.#kind, word, seconds, this.trace_id);
    this.metrics?.work(this.#kind, report);
    return report;
  }

  #endPhase(outcome: 'done' | 'cut_off'): void {
    const open = this.#phase;
    if (open === null) return;
    this.#phase = null;
    if (outcome === 'done') open.span.end();
    else endFailed(open.span, outcome);
    const seconds = (performance.now() - open.startedMs) / 1000;
    this.metrics?.phase(open.phase, outcome, seconds, this.trace_id);
  }

  #call(name: EngineCallName): EngineCall {
    const parent = this.#phase?.context ?? this.#job.context;
    const { span } = openSpan(this.tracing.tracer, `engine ${name}`, parent, { kind: SpanKind.CLIENT });
    return {
      succeeded: (attributes) => {
        span.setAttributes(attributes);
        span.end();
      },
      failed: (error) => endFailed(span, errorTypeOf(error)),
    };
  }
}

/**
 * An inference belongs to the request's trace. Learning takes minutes, so it has its own trace, with a link to that
 * one.
 */
function openJobSpan({ tracer }: Tracing, job: ClaimedJob): OpenSpan {
  const { kind } = job;
  const admitted = spanContextOf(job.trace_context);
  const within: Context =
    admitted === null || kind === 'internalization' ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, admitted);
  const links: Link[] = admitted === null || kind === 'inference' ? [] : [{ context: admitted }];
  const attributes = {
    'engraft.job.id': job.job_id,
    'engraft.job.kind': kind,
    'engraft.job.attempts': job.attempts,
    'engraft.job.waited_ms': Math.round(job.waited_ms),
    'engraft.project.id': job.project_id,
    'engraft.version.id': job.adapter_version,
  };
  return openSpan(tracer, `job ${kind}`, within, { kind: SpanKind.CONSUMER, links, attributes });
}

function workEndOf(outcome: RunOutcome, charged: TokenUsage | null): WorkEnd {
  if (outcome.kind === 'lost' || outcome.kind === 'handed_back') return outcome.kind;
  return charged === null ? 'waived' : 'charged';
}

function repeatedAttributes(repeated: TokenUsage): Record<string, number> {
  return Object.fromEntries(Object.entries(repeated).map(([name, count]) => [`engraft.repeated.${name}`, count]));
}
