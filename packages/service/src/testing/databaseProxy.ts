import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The commit at which the database goes away, and whether it was made by then. */
export interface CommitFault {
  /** 1 is the next one. */
  readonly commit: number;
  /** Nobody is told: the service cannot know which of the two it was. */
  readonly made: boolean;
}

/**
 * A fault injector between a service and its database. While it is cut there is no database at that address, and every
 * connection to it is reset, as by a server that restarts.
 */
export class DatabaseProxy {
  readonly #server = createServer((client) => this.#join(client));
  readonly #sockets = new Set<Socket>();
  #isCut = false;
  #fault: CommitFault | null = null;
  #onFault: () => void = () => undefined;
  #targetPort = 0;

  static async open(): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy();
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** The URL that reaches the database through this proxy. */
  reach(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    this.#targetPort = Number(url.port);
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  /** Resolves when the database has gone away in a commit. */
  cutIn(fault: CommitFault): Promise<void> {
    this.#fault = fault;
    return new Promise((resolve) => {
      this.#onFault = resolve;
    });
  }

  /** Cancels the fault. Returns whether it was still to come. */
  disarm(): boolean {
    const wasArmed = this.#fault !== null;
    this.#fault = null;
    return wasArmed;
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(client: Socket): void {
    client.on('error', () => undefined);
    if (this.#isCut) {
      client.resetAndDestroy();
      return;
    }
    const server = connect(this.#targetPort, '127.0.0.1');
    server.on('error', () => undefined);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.once('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    server.pipe(client);
    client.on('data', (bytes) => {
      if (this.#isFault(bytes)) this.#fail(client, server, bytes);
      else server.write(bytes);
    });
  }

  /** Kysely sends it in lower case, and a restore in upper case, each by itself. */
  #isFault(bytes: Buffer): boolean {
    if (this.#fault === null || !['commit\0', 'COMMIT\0'].some((said) => bytes.includes(said))) return false;
    this.#fault = { ...this.#fault, commit: this.#fault.commit - 1 };
    return this.#fault.commit === 0;
  }

  #fail(client: Socket, server: Socket, bytes: Buffer): void {
    const made = this.#fault?.made === true;
    this.#fault = null;
    server.unpipe(client);
    const end = (): void => {
      this.cut();
      this.#onFault();
    };
    if (!made) {
      end();
      return;
    }
    server.once('data', end).resume();
    server.write(bytes);
  }
}
