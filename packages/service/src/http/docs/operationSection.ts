import type { HttpMethod, JsonSchema, OpenApiDocument, Operation, Parameter, Response } from '@engraft/contract';
import { curlExample } from './curl.js';
import { describeType, fieldRow, fieldTable } from './fields.js';
import { html, nothing, type Html } from './html.js';
import { inline, prose } from './prose.js';

/** Everything about one endpoint: what it does, what it takes, what it answers, and a call to try. */
export function operationSection(
  document: OpenApiDocument,
  path: string,
  method: HttpMethod,
  operation: Operation,
): Html {
  const parameters = operation.parameters.map(({ $ref }) => parameterOf(document, $ref));
  const body = bodySchema(operation);
  return html`<section id="${operation.operationId}">
    <h3>${operation.summary}</h3>
    <p class="route"><span class="method">${method.toUpperCase()}</span> <code>${path}</code></p>
    ${prose(operation.description)} ${parameters.length === 0 ? nothing : parameterTable(parameters)}
    ${
      body === null
        ? nothing
        : html`<h4>Body</h4>
            <p>${describeType(body)}</p>
            ${fieldTable(resolve(document, body))}`
    }
    <h4>Example</h4>
    <pre><code>${curlExample(path, method, operation, parameters)}</code></pre>
    <h4>Responses</h4>
    ${Object.entries(operation.responses).map(([status, response]) => responseEntry(status, response))}
  </section>`;
}

function parameterTable(parameters: readonly Parameter[]): Html {
  return html`<h4>Parameters</h4>
    <table class="fields">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Type</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        ${parameters.map((each) =>
          fieldRow(each.name, each.schema, each.required, `${placeOf(each)} ${each.description}`),
        )}
      </tbody>
    </table>`;
}

function placeOf(parameter: Parameter): string {
  return { header: 'Header.', path: 'In the path.', query: 'Query.' }[parameter.in];
}

function responseEntry(status: string, response: Response): Html {
  const failed = Number(status) >= 400;
  const [first = ''] = response.description.split('\n\n', 1);
  return html`<details class="${failed ? 'failure' : 'success'}">
    <summary><strong>${status}</strong> ${inline(failed ? codesOf(response) : first)}</summary>
    ${failed ? prose(response.description) : nothing}
    <p class="headers">
      Headers:
      ${inline(
        Object.keys(response.headers)
          .map((name) => `\`${name}\``)
          .join(', '),
      )}
    </p>
    ${Object.entries(response.content).map(
      ([type, { schema, examples }]) =>
        html`<p><code>${type}</code> ${schema.$ref === undefined ? nothing : describeType(schema)}</p>
          ${Object.values(examples ?? {}).map(({ value }) => html`<pre><code>${show(value)}</code></pre>`)}`,
    )}
  </details>`;
}

function codesOf(response: Response): string {
  const codes = Object.keys(response.content['application/json']?.examples ?? {});
  return codes.map((code) => `\`${code}\``).join(', ');
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

function parameterOf(document: OpenApiDocument, reference: string): Parameter {
  const parameter = document.components.parameters[reference.split('/').at(-1) ?? ''];
  if (parameter === undefined) throw new Error(`${reference} is not in the description`);
  return parameter;
}

function resolve({ components }: OpenApiDocument, { $ref = '' }: JsonSchema): JsonSchema {
  return components.schemas[$ref.split('/').at(-1) ?? ''] ?? {};
}

function bodySchema({ requestBody }: Operation): JsonSchema | null {
  return requestBody?.content['application/json']?.schema ?? null;
}
