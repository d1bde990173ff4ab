import type { JsonSchema } from '@engraft/contract';
import { html, nothing, type Html } from './html.js';
import { inline } from './prose.js';

/** A table of an object's fields. Fields of inner objects come below, with their full paths. */
export function fieldTable(schema: JsonSchema): Html {
  return html`<table class="fields">
    <thead>
      <tr>
        <th scope="col">Field</th>
        <th scope="col">Type</th>
        <th scope="col">Meaning</th>
      </tr>
    </thead>
    <tbody>
      ${fieldRows(schema, '')}
    </tbody>
  </table>`;
}

/** One row. Parameters look like fields. */
export function fieldRow(name: string, schema: JsonSchema, required: boolean, description: string): Html {
  const constraints = describeConstraints(schema);
  return html`<tr>
    <td><code>${name}</code>${required ? html`<span class="required">required</span>` : nothing}</td>
    <td>${describeType(schema)}</td>
    <td>
      ${inline(description)}
      ${constraints.length === 0 ? nothing : html`<span class="constraints">${inline(constraints.join(' · '))}</span>`}
    </td>
  </tr>`;
}

function fieldRows(schema: JsonSchema, path: string): readonly Html[] {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).flatMap(([name, field]) => {
    const here = path + name;
    const row = fieldRow(here, field, required.includes(name), field.description ?? '');
    const inner = innerObject(field);
    return inner === null ? [row] : [row, ...fieldRows(inner.schema, `${here}${inner.suffix}.`)];
  });
}

/** The object written out inside a field. A named object is linked instead. */
function innerObject(field: JsonSchema): { schema: JsonSchema; suffix: string } | null {
  if (field.properties !== undefined) return { schema: field, suffix: '' };
  if (field.items?.properties !== undefined) return { schema: field.items, suffix: '[]' };
  const object = field.anyOf?.find(({ properties }) => properties !== undefined);
  return object === undefined ? null : { schema: object, suffix: '' };
}

/** `string`, `array of Message`, `integer or null`. Named schemas are links. */
export function describeType(schema: JsonSchema): Html {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? '';
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  if (schema.anyOf !== undefined) {
    const kinds = schema.anyOf.map(describeType);
    return html`${kinds.map((kind, index) => (index === 0 ? kind : html` or ${kind}`))}`;
  }
  if (schema.type === 'array' && schema.items !== undefined) return html`array of ${describeType(schema.items)}`;
  return html`${[schema.type ?? 'any value'].flat().join(' or ')}`;
}

/** The allowed values, as short phrases of Markdown. */
export function describeConstraints(schema: JsonSchema): string[] {
  const phrases = [
    ...(schema.enum === undefined ? [] : [schema.enum.map(code).join(', ')]),
    ...('const' in schema ? [`only ${code(schema.const)}`] : []),
    ...range(schema.minimum, schema.maximum, ''),
    ...range(schema.minLength, schema.maxLength, ' units'),
    ...range(schema.minItems, schema.maxItems, ' items'),
    ...(schema.pattern === undefined ? [] : [`\`${schema.pattern}\``]),
    ...(schema.format === 'date-time' ? ['ISO 8601, UTC'] : []),
    ...(schema.anyOf ?? []).flatMap(describeConstraints),
  ];
  return schema.default === undefined ? phrases : [...phrases, `default ${code(schema.default)}`];
}

function code(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

function range(from: number | undefined, to: number | undefined, unit: string): string[] {
  const show = (bound: number): string => bound.toLocaleString('en');
  if (from !== undefined && to !== undefined) return [`${show(from)}–${show(to)}${unit}`];
  if (to !== undefined) return [`at most ${show(to)}${unit}`];
  return from === undefined ? [] : [`at least ${show(from)}${unit}`];
}
