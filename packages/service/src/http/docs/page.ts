import type { HttpMethod, JsonSchema, OpenApiDocument, Operation } from '@engraft/contract';
import { describeConstraints, describeType, fieldTable } from './fields.js';
import { Html, html, nothing } from './html.js';
import { operationSection } from './operationSection.js';
import { inline, prose } from './prose.js';
import { style } from './style.js';

/** The reference as one page that needs nothing from elsewhere, rendered from the description of the API. */
export function renderReference(document: OpenApiDocument): string {
  const { info, tags, components } = document;
  const operations = operationsOf(document);
  const ofTag = (tag: string): readonly OperationAt[] =>
    operations.filter(({ operation }) => operation.tags.includes(tag));
  const schemas = Object.entries(components.schemas);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${info.title} ${info.version}</title>
        ${new Html(`<style>${style}</style>`)}
      </head>
      <body>
        <nav aria-label="Contents">
          <p class="brand">${info.title} <span>${info.version}</span></p>
          <ul>
            <li><a href="/docs/guide">Guide</a></li>
          </ul>
          ${tags.map(
            ({ name }) =>
              html`<p>${name}</p>
                <ul>
                  ${ofTag(name).map(navigationEntry)}
                </ul>`,
          )}
          <p>Schemas</p>
          <ul>
            ${schemas.map(([name]) => html`<li><a href="#schema-${name}">${name}</a></li>`)}
          </ul>
        </nav>
        <main>
          <h1>${info.title}</h1>
          ${prose(info.description)}
          <p>The same as a machine reads it: <a href="/openapi.json">openapi.json</a> (OpenAPI ${document.openapi}).</p>
          ${tags.map(
            ({ name, description }) =>
              html`<h2>${name}</h2>
                <p class="lead">${inline(description)}</p>
                ${ofTag(name).map(({ path, method, operation }) => operationSection(document, path, method, operation))}`,
          )}
          <h2>Schemas</h2>
          ${schemas.map(([name, schema]) => schemaSection(name, schema))}
        </main>
      </body>
    </html>`.text;
}

interface OperationAt {
  readonly path: string;
  readonly method: HttpMethod;
  readonly operation: Operation;
}

function operationsOf({ paths }: OpenApiDocument): readonly OperationAt[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    (['get', 'post'] as const).flatMap((method) => {
      const operation = methods[method];
      return operation === undefined ? [] : [{ path, method, operation }];
    }),
  );
}

function navigationEntry({ operation, method, path }: OperationAt): Html {
  return html`<li>
    <a href="#${operation.operationId}" title="${method.toUpperCase()} ${path}">${operation.summary}</a>
  </li>`;
}

function schemaSection(name: string, schema: JsonSchema): Html {
  const constraints = describeConstraints(schema);
  return html`<section id="schema-${name}">
    <h3>${name}</h3>
    ${prose(schema.description ?? '')}
    ${schema.properties === undefined ? html`<p>${describeType(schema)}</p>` : fieldTable(schema)}
    ${constraints.length === 0 ? nothing : html`<p class="constraints">${inline(constraints.join(' · '))}</p>`}
  </section>`;
}
