/** Requests to a real server that the engine would not make. */

interface VllmRequests {
  readonly load: (name: string, path: string) => Promise<Response>;
  readonly unload: (name: string) => Promise<Response>;
  /** The names of the adapters that it lists. */
  readonly listed: () => Promise<string[]>;
  /** How many requests it works on. */
  readonly running: () => Promise<number>;
}

export function vllmRequests(url: () => string): VllmRequests {
  const post = (path: string, body: unknown): Promise<Response> =>
    fetch(`${url()}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const load = (name: string, path: string): Promise<Response> =>
    post('/v1/load_lora_adapter', { lora_name: name, lora_path: path });
  const unload = (name: string): Promise<Response> => post('/v1/unload_lora_adapter', { lora_name: name });
  const listed = async (): Promise<string[]> => {
    const { data } = (await (await fetch(`${url()}/v1/models`)).json()) as { data: { id: string }[] };
    return data.slice(1).map(({ id }) => id);
  };
  const running = async (): Promise<number> => {
    const text = await (await fetch(`${url()}/metrics`)).text();
    return Number(/^vllm:num_requests_running\{[^}]*\} (\S+)/m.exec(text)?.[1] ?? NaN);
  };
  return { load, unload, listed, running };
}

/** A text that the shipped model goes on with for as long as it may. */
export const endless = 'one two three '.repeat(100);
