/** A request of the playground, as the API takes it. */
export type ApiRequest =
  | {
      readonly kind: 'learn';
      readonly subject_id: string;
      readonly content: string;
      readonly max_cost_microusd: number;
    }
  | {
      readonly kind: 'ask';
      readonly subject_id: string;
      readonly question: string;
      readonly adapter_version?: string;
    };

export const languages = ['curl', 'TypeScript', 'Python'] as const;
type Language = (typeof languages)[number];

interface Service {
  readonly base: string;
  /** As chat completions name it. */
  readonly model: string;
}

/** A program that sends the request, with the key of `ENGRAFT_API_KEY`. It needs no library. */
export function codeFor(language: Language, request: ApiRequest, { base, model }: Service): string {
  const path = request.kind === 'learn' ? '/v1/internalizations' : '/v1/chat/completions';
  const body = JSON.stringify(bodyOf(request, model), null, 2);
  return writers[language](`${base}${path}`, body);
}

function bodyOf(request: ApiRequest, model: string): Readonly<Record<string, unknown>> {
  if (request.kind === 'learn') {
    const { subject_id, content, max_cost_microusd } = request;
    return { subject_id, content, max_cost_microusd };
  }
  const { subject_id, adapter_version, question } = request;
  const pinned = adapter_version === undefined ? {} : { adapter_version };
  return { model, subject_id, ...pinned, messages: [{ role: 'user', content: question }] };
}

/** Each takes the address and the body as JSON. */
const writers: Readonly<Record<Language, (url: string, json: string) => string>> = {
  curl: (url, json) =>
    [
      `curl ${url} \\`,
      `  -H "Authorization: Bearer $ENGRAFT_API_KEY" \\`,
      `  -H "Content-Type: application/json" \\`,
      `  -H "Idempotency-Key: $(uuidgen)" \\`,
      `  -d '${json.replaceAll("'", `'\\''`)}'`,
    ].join('\n'),
  TypeScript: (url, json) =>
    [
      `const response = await fetch(${JSON.stringify(url)}, {`,
      `  method: 'POST',`,
      `  headers: {`,
      `    Authorization: \`Bearer \${process.env.ENGRAFT_API_KEY}\`,`,
      `    'Content-Type': 'application/json',`,
      `    'Idempotency-Key': crypto.randomUUID(),`,
      `  },`,
      `  body: JSON.stringify(${indented(json, '  ')}),`,
      `});`,
      `console.log(await response.json());`,
    ].join('\n'),
  Python: (url, json) =>
    [
      `import json, os, urllib.request, uuid`,
      ``,
      `request = urllib.request.Request(`,
      `    ${JSON.stringify(url)},`,
      // Every JSON text of strings, numbers, lists and objects is also one of Python's.
      `    data=json.dumps(${indented(json, '    ')}).encode(),`,
      `    headers={`,
      `        "Authorization": "Bearer " + os.environ["ENGRAFT_API_KEY"],`,
      `        "Content-Type": "application/json",`,
      `        "Idempotency-Key": str(uuid.uuid4()),`,
      `    },`,
      `)`,
      `print(json.load(urllib.request.urlopen(request)))`,
    ].join('\n'),
};

function indented(json: string, by: string): string {
  return json.replaceAll('\n', `\n${by}`);
}
