import type { Server } from 'node:http';
import { fastify, LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { ApiError } from '@engraft/contract';
import type { AdmissionContext } from '../admission/admitJob.js';
import type { Finding } from '../doctor/examine.js';
import { AdmissionTurns } from '../admission/admissionTurns.js';
import type { RequestsOfProcess } from '../admission/admitChatJob.js';
import { FullQueues } from '../admission/fullQueues.js';
import { UnderWay } from '../admission/underWay.js';
import { newId } from '../ids.js';
import { type JobWatcher, startJobWatcher } from '../jobs/jobWatcher.js';
import { checkScope, createAuthentication, refuseBrowsers } from './authenticateRequest.js';
import { consoleApi } from './console/consoleApi.js';
import { consolePages } from './console/consolePages.js';
import type { ModelOfProcess } from './console/modelRoutes.js';
import { createRateLimit } from './limitRate.js';
import { createStrangerLimits } from './limitStrangers.js';
import { observeRequests } from './observeRequests.js';
import { invalid, readBodyBytes } from './readBody.js';
import { newRequestState } from './requestState.js';
import { activationRoute } from './routes/activation.js';
import { chatRoute } from './routes/chatCompletions.js';
import { descriptionRoutes } from './routes/description.js';
import { inferenceRoute } from './routes/inferences.js';
import { internalizationRoute } from './routes/internalizations.js';
import { jobRoutes } from './routes/jobs.js';
import { modelsRoute } from './routes/models.js';
import { healthRoutes, metricsRoute } from './routes/operations.js';
import { subjectRoutes } from './routes/subjects.js';
import { sendClientError, sendErrors, sendFrameworkError } from './sendErrors.js';
import { endConnectionsOnceAnswered, limitConnections, untilLeft } from './connections.js';
import type { Payments } from '../payments/payments.js';
import { noTracing, type Tracing } from '../tracing/tracing.js';
import { answerUnknownPaths } from './unknownPaths.js';
import { traceRequests } from './traceRequests.js';

export interface AppOptions extends AdmissionContext {
  /** The name of the model on the wire. */
  readonly model_id: string;
  /** How long a chat completion waits for its job. */
  readonly chatWaitMs: number;
  /** How often a waiting stream shows that it is alive. */
  readonly keepaliveMs?: number;
  /** Without it no credit is sold. */
  readonly payments?: Payments;
  /** Without it the console has nothing to say about a model. */
  readonly modelInUse?: ModelOfProcess;
  /** Examines the installation, as `engraft doctor` does. Without it nothing is found. */
  readonly examine?: () => Promise<readonly Finding[]>;
  /** Names what is missing before the service can take work. Empty when it is ready. */
  readonly readiness: () => Promise<readonly string[]>;
  readonly logger: FastifyBaseLogger;
  readonly metrics: Registry;
  /** The longest time that a client may take to send one request. */
  readonly requestTimeoutMs?: number;
  /** Without it no traces are taken. */
  readonly tracing?: Tracing;
  /** Metrics and the description of the API are served elsewhere, see `buildOperationsApp`. */
  readonly operationsApart?: boolean;
  /** Monotonic, for limits by address and the sampling of the log. */
  readonly nowMs?: () => number;
}

const defaultRequestTimeoutMs = 60_000;
/** The same limit for its headers. It also ends a connection on which nothing was ever sent. */
const maxHeadersTimeoutMs = 15_000;
/** "A keepalive comment at least every 10 s." */
const defaultKeepaliveMs = 8_000;
/**
 * The longest that chat completions wait for their jobs when the service stops. What still runs is then handed back.
 */
const closingWaitMs = 7_000;

/**
 * The HTTP interface, not yet listening. Checks run in this order: request id → Origin → key → scope → rate → body size
 * → syntax and schema → tenant and subject agreement, and then those of `admitJob`.
 */
export function buildApp(options: AppOptions): FastifyInstance {
  const app = newApp(options.logger, options.chatWaitMs, options.requestTimeoutMs);
  const { nowMs = () => performance.now() } = options;
  const strangers = createStrangerLimits(nowMs);
  const fullQueues = new FullQueues(nowMs);
  const authenticateRequest = createAuthentication(options.db, strangers, () => fullQueues.pause());
  const limitRate = createRateLimit(options.db, () => fullQueues.pause());
  const watcher = startJobWatcher(options.db);
  const turns = new AdmissionTurns();
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
    watcher.close(closingWaitMs);
    await untilLeft(app.server);
  });
  endConnectionsOnceAnswered(app, () => closing);
  observeRequests(app, options.metrics, nowMs);
  const beginTrace = traceRequests(app, options.tracing ?? noTracing);
  answerUnknownPaths(app, strangers);

  const open = { ...options, strangers, nowMs };
  healthRoutes(app, open);
  if (options.operationsApart !== true) {
    metricsRoute(app, open);
    descriptionRoutes(app, open);
  }
  consolePages(app, strangers);
  consoleApi(app, { ...noneToShow, payments: null, ...open, turns, isClosing: () => closing });
  app.register(
    (api, _options, registered) => {
      api.addHook('onRequest', async (request, reply) => {
        if (closing) throw new ApiError('service_unavailable');
        void reply.header('cache-control', 'no-store');
        await refuseBrowsers(strangers, request);
        await authenticateRequest(request, reply);
        beginTrace(request);
        checkScope(request);
        await limitRate(request, reply);
      });
      api.addHook('preParsing', async (request, _reply, payload) => {
        if (request.method === 'POST') request.state.body = await readBodyBytes(payload);
        return payload;
      });
      apiRoutes(api, options, { watcher, fullQueues, turns, underWay: new UnderWay() });
      registered();
    },
    { prefix: '/v1' },
  );
  return app;
}

/** The console's view of a process that tells nothing of itself. */
const noneToShow = {
  modelInUse: { kind: 'none', reason: 'this process says nothing of its model' },
  examine: () => Promise.resolve([]),
} as const satisfies Pick<AppOptions, 'modelInUse' | 'examine'>;

export interface OperationsAppOptions extends Pick<
  AppOptions,
  'model_id' | 'readiness' | 'logger' | 'metrics' | 'nowMs'
> {
  /** Whether this process serves the API, which is then described. */
  readonly hasApi: boolean;
}

/** Routes that need no key, for an address of their own: health, metrics and the description of the API. */
export function buildOperationsApp(options: OperationsAppOptions): FastifyInstance {
  const app = newApp(options.logger, 0);
  const { nowMs = () => performance.now() } = options;
  const strangers = createStrangerLimits(nowMs);
  answerUnknownPaths(app, strangers);
  const open = { ...options, strangers, nowMs };
  healthRoutes(app, open);
  metricsRoute(app, open);
  if (options.hasApi) descriptionRoutes(app, open);
  return app;
}

/** An app without routes. Every answer has a request id, and every error the envelope. */
function newApp(
  logger: FastifyBaseLogger,
  answerMs: number,
  requestTimeoutMs = defaultRequestTimeoutMs,
): FastifyInstance {
  const headersTimeout = Math.min(requestTimeoutMs, maxHeadersTimeoutMs);
  const app: FastifyInstance = fastify({
    loggerInstance: logger,
    // `observeRequests` writes the log. The framework's own lines would show URLs.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: () => newId('req'),
    requestTimeout: requestTimeoutMs,
    // A client that reads nothing loses its connection after this time, which is longer than the longest silence of an
    // answer that somebody waits for.
    connectionTimeout: answerMs + requestTimeoutMs,
    return503OnClosing: false,
    http: { requireHostHeader: false, headersTimeout, connectionsCheckingInterval: headersTimeout / 5 },
    // At least as long as the request line may be: an id of any length is looked up, and not found.
    routerOptions: { maxParamLength: 1 << 16 },
    frameworkErrors: sendFrameworkError,
    clientErrorHandler: sendClientError,
  });
  leaveNothingToNode(app.server);
  limitConnections(app.server);
  app.decorateRequest('state');
  app.addHook('onRequest', (request, reply, done) => {
    request.state = newRequestState();
    void reply.header('x-request-id', request.id);
    const lacksHost = request.headers.host === undefined && request.raw.httpVersion === '1.1';
    done(lacksHost ? invalid('Host', 'HTTP/1.1 requires this header') : undefined);
  });
  sendErrors(app);
  acceptBodies(app);
  return app;
}

interface Shared extends RequestsOfProcess {
  readonly watcher: JobWatcher;
}

function apiRoutes(api: FastifyInstance, options: AppOptions, shared: Shared): void {
  chatRoute(api, { keepaliveMs: defaultKeepaliveMs, ...options, ...shared });
  inferenceRoute(api, { ...options, ...shared });
  internalizationRoute(api, { ...options, ...shared });
  jobRoutes(api, options);
  subjectRoutes(api, options);
  activationRoute(api, options);
  modelsRoute(api, options);
}

/** Answers by Node.js itself have no error envelope, or are no answers at all. */
function leaveNothingToNode(server: Server): void {
  // Node.js would answer a bare 417. RFC 9110 lets a server ignore an expectation that it does not know.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // Node.js would only close the connection.
  server.on('connect', (_request, socket) => sendClientError(new Error('this is no proxy'), socket));
  // Node.js drops headers after the 2,000th, which may include an `Origin`. Their size is limited in any case.
  server.maxHeadersCount = 0;
}

/** The hook above has read the body, whatever its type. The framework's own parsers have nothing left to do. */
function acceptBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, parsed) => {
    parsed(null);
  });
}
