import { HubError, systemCode } from './hubError.js';
import { writeModelName, type ModelName } from './modelName.js';
import type { HubSettings } from './settings.js';

/** How patient to be with a connection. */
export interface Patience {
  /** The number of failures in a row without progress after which a file or a question is given up. */
  readonly attempts: number;
  /** Milliseconds to wait after each number of failures. */
  readonly pauseMs: (failures: number) => number;
  /** Milliseconds without data after which a connection counts as broken. */
  readonly idleMs: number;
}

export const defaultPatience: Patience = {
  attempts: 6,
  pauseMs: (failures) => Math.min(30_000, 500 * 2 ** failures),
  idleMs: 30_000,
};

export interface HubAnswer {
  readonly response: Response;
  /** Headers of the hub's own last answer, which may have named another host for the content. */
  readonly hubHeaders: Headers;
  /** Whether the response is the hub's own. */
  readonly fromHub: boolean;
}

/** A failure that may pass when the work is tried again. */
export class PassingFailure extends Error {
  override readonly name = 'PassingFailure';

  constructor(
    message: string,
    /** How long the server wants to be left alone. `null` if it did not say. */
    readonly retryAfterMs: number | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const maxRedirects = 10;

/** Asks one hub about one model. */
export class HubClient {
  constructor(
    private readonly settings: HubSettings,
    private readonly name: ModelName,
  ) {}

  /**
   * Follows redirects itself, so that the token goes to the hub and to no other host that a redirect names.
   * @throws PassingFailure, or the reason of the signal
   */
  async ask(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HubAnswer> {
    let hubHeaders = new Headers();
    let at = url;
    for (let hops = 0; hops <= maxRedirects; hops += 1) {
      const fromHub = this.isHub(at);
      const { token } = this.settings;
      const credentials: Record<string, string> =
        fromHub && token !== null ? { authorization: `Bearer ${token.secret}` } : {};
      const response = await this.fetchOne(at, { ...headers, ...credentials }, signal);
      if (fromHub) hubHeaders = response.headers;
      const location = response.headers.get('location');
      if (![301, 302, 303, 307, 308].includes(response.status) || location === null) {
        return { response, hubHeaders, fromHub };
      }
      await response.body?.cancel();
      at = this.followed(location, at);
    }
    throw new HubError('answer_invalid', `${this.host} redirects without end; HF_ENDPOINT names another hub`);
  }

  /**
   * The meaning of an answer other than success. Server errors pass; what the hub says about the name or the token
   * stays.
   */
  async failureOf({ response, fromHub }: HubAnswer): Promise<HubError | PassingFailure> {
    const { status, headers } = response;
    await response.body?.cancel();
    if (status >= 500 || status === 408 || status === 429) {
      return new PassingFailure(`it answers with status ${status}`, retryAfterMs(headers));
    }
    // Addresses that a hub signs for another host expire. The next answer names a new one.
    if (!fromHub) return new PassingFailure(`the host that it names for the file answers with status ${status}`);
    if (status === 401 || status === 403) return new HubError('access_denied', this.denial(status, headers));
    if (status === 404) return new HubError('not_found', this.absence(headers));
    return new HubError('answer_invalid', `${this.host} answers with status ${status}; HF_ENDPOINT names another hub`);
  }

  /** The error when nothing helped. */
  unreachable(failure: PassingFailure): HubError {
    const advice = 'check the network and HF_ENDPOINT, and try again';
    return new HubError('unreachable', `${this.host} cannot be used (${failure.message}): ${advice}`, {
      cause: failure,
    });
  }

  get host(): string {
    return new URL(this.settings.endpoint).host;
  }

  private isHub(url: string): boolean {
    return new URL(url).origin === new URL(this.settings.endpoint).origin;
  }

  private async fetchOne(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    try {
      return await fetch(url, { headers, redirect: 'manual', signal });
    } catch (error) {
      signal.throwIfAborted();
      const code = systemCode(error);
      // The codes of the library under `fetch` mean nothing to people.
      const reason = code === null || code.startsWith('UND_') ? 'the connection broke' : code;
      throw new PassingFailure(reason, null, { cause: error });
    }
  }

  private followed(location: string, from: string): string {
    const url = URL.canParse(location, from) ? new URL(location, from) : null;
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '') {
      throw new HubError('answer_invalid', `${this.host} redirects to what is no address`);
    }
    return url.href;
  }

  private denial(status: number, headers: Headers): string {
    const { endpoint, token } = this.settings;
    const { id } = this.name;
    const page = `${endpoint}/${id}`;
    const make = `make a token at ${endpoint}/settings/tokens and set HF_TOKEN to it`;
    if (headers.get('x-error-code') === 'GatedRepo' || status === 403) {
      const further =
        token === null ? `, ${make}` : ' with the account of your token, which must be allowed to read it';
      return `${id} is gated: ask for access at ${page}${further}`;
    }
    if (token !== null) return `${this.host} refuses the token of ${token.source}: ${make}`;
    const ask = `check the name; if it is right, ask for access at ${page}, ${make}`;
    return `${id} does not exist, is private or is gated: ${ask}`;
  }

  private absence(headers: Headers): string {
    const { id, revision } = this.name;
    const { endpoint, token } = this.settings;
    switch (headers.get('x-error-code')) {
      case 'RevisionNotFound':
        return `${id} has no revision '${revision}': there are those of ${endpoint}/${id}/tree/main`;
      case 'EntryNotFound':
        return `${writeModelName(this.name)} has lost a file that it lists: try again`;
      default: {
        const hidden = token === null ? '; a private one needs HF_TOKEN' : '';
        return `there is no ${writeModelName(this.name)} at ${endpoint}: check the name and the revision${hidden}`;
      }
    }
  }
}

/** The body of an answer, as it comes. */
export async function* piecesOf({ body }: Response): AsyncGenerator<Uint8Array, undefined> {
  if (body === null) return;
  const pieces: AsyncIterable<Uint8Array> = body;
  yield* pieces;
}

/** The header gives seconds or a date. The wait is at most a minute, since a person waits. */
function retryAfterMs(headers: Headers): number | null {
  const text = headers.get('retry-after');
  if (text === null) return null;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? null : Math.min(60_000, Math.max(0, ms));
}
