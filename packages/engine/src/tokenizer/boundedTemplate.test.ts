import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Template } from '@huggingface/jinja';
import { fixtureFolder } from '../testing/fixtures.js';
import { parseWithExactNumbers } from '../support/exactNumbers.js';
import { BoundedTemplate, JoinError } from './boundedTemplate.js';

const endless: readonly (readonly [string, string])[] = [
  ['a vast range', '{% for i in range(10000000000) %}x{% endfor %}'],
  ['a vast range that is not gone through', '{{ range(0, 10000000000, 2)|length }}'],
  [
    'loops in loops',
    '{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}{% endfor %}{% endfor %}',
  ],
  [
    'loops that end at once over a long list',
    '{% set all = range(99999) %}{% for a in all %}{% for b in all %}{% break %}{% endfor %}{% endfor %}',
  ],
  [
    'loops with a condition that never holds',
    '{% set all = range(9999) %}{% for a in all %}{% for b in all if false %}{% endfor %}{% endfor %}',
  ],
  [
    'a list that doubles',
    '{% set n = namespace(all=[1]) %}{% for a in range(99) %}{% set n.all = n.all + n.all %}{% endfor %}',
  ],
  [
    'a long text that is looked at again and again',
    `{% set n = namespace(t='0123456789') %}{% for a in range(20) %}{% set n.t = n.t ~ n.t %}{% endfor %}
     {% for a in range(99999) %}{{ n.t|length }}{% endfor %}`,
  ],
  ...['{{ n.all }}', '{{ n.all|tojson }}', '{{ n.all|string|length }}', '{{ [n.all]|join }}', "{{ n.all ~ '' }}"].map(
    (written) =>
      [
        `a list that holds another twice, and so on, written by ${written}`,
        `{% set n = namespace(all=[1]) %}{% for a in range(40) %}{% set n.all = [n.all, n.all] %}{% endfor %}${written}`,
      ] as const,
  ),
  [
    'a mapping that holds another twice, and so on',
    '{% set n = namespace(all=1) %}{% for a in range(40) %}{% set n.all = {"a": n.all, "b": n.all} %}{% endfor %}{{ n.all }}',
  ],
  [
    'namespaces that hold another twice, each before that one does',
    Array.from({ length: 40 }, (_, index) => `{% set n${index} = namespace(all=0) %}`).join('') +
      Array.from({ length: 39 }, (_, index) => `{% set n${index}.all = [n${index + 1}, n${index + 1}] %}`).join('') +
      '{{ n0 }}',
  ],
  [
    'a long text of which much is taken away again and again',
    `{% set n = namespace(t='x') %}{% for a in range(20) %}{% set n.t = n.t ~ n.t %}{% endfor %}
     {% for a in range(99999) %}{{ n.t.strip('x') }}{% endfor %}`,
  ],
  ['a namespace that holds itself', '{% set n = namespace() %}{% set n.all = [n] %}{{ n }}'],
  [
    'a macro that calls itself twice',
    '{% macro f(n) %}{% if n > 0 %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}',
  ],
];

for (const [name, source] of endless) {
  test(`refused: ${name}`, () => {
    assert.throws(() => new BoundedTemplate(source).render({}), /takes more than 1000000 steps/);
  });
}

const finite = [
  '{{ true }} {{ True }} {{ false }} {{ False }} {{ none is none }} {{ None is none }}',
  '{% for i in range(3) %}{{ i }}{% endfor %} {{ range(1, 4)|join(" ") }} {{ range(9, 0, -4)|join(" ") }}',
  '{% for m in messages if m.role == "user" %}{{ loop.index }}{{ m.content }}{% else %}none{% endfor %}',
  '{% for key, value in messages[0].items() %}{{ key }}={{ value }}{% endfor %}{{ messages|tojson }}',
  '{{ strftime_now("%Y %m %d") }}',
  '{% set n = namespace(all=[]) %}{% for m in messages %}{% set n.all = n.all + [m, m] %}{% endfor %}{{ n.all|tojson }}',
];

test('what ends is rendered as the library renders it', () => {
  const variables = {
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'you' },
    ],
  };
  for (const source of finite) {
    assert.equal(new BoundedTemplate(source).render(variables), new Template(source).render(variables), source);
  }
  const raising = '{{ raise_exception("no such role") }}';
  assert.throws(() => new BoundedTemplate(raising).render({}), { message: 'no such role' });
  assert.throws(() => new BoundedTemplate('{{ range(1, 9, 0) }}').render({}), /step must not be zero/);
});

test('a text is joined neither with a list nor with a mapping, which would be lost', () => {
  const variables = { list: [1], mapping: { city: 'Paris' } };
  for (const joined of ["'a' + mapping", "mapping + 'a'", "'a' + list", "mapping ~ 'a'", 'list ~ list']) {
    assert.throws(() => new BoundedTemplate(`{{ ${joined} }}`).render(variables), JoinError, joined);
  }
  // While the right side is evaluated, the macro evaluates the same sum with other values.
  const recursive = '{% macro f(n) %}{% if n %}{{ n ~ f(n - 1) + "," }}{% endif %}{% endmacro %}{{ f(3) }}';
  assert.equal(new BoundedTemplate(recursive).render({}), '321,,,');
  assert.equal(new BoundedTemplate("{{ (list + list)|length ~ 'a' + 'b' }}").render(variables), '2ab');
});

test('a number that is kept as it was written is a number, not a text', () => {
  const source = '{{ n is number }} {{ n is string }} {{ n is not string }} {{ t is string }} {{ u is defined }}';
  const variables = { n: parseWithExactNumbers('10.0'), t: '10.0' };
  assert.equal(new BoundedTemplate(source).render(variables), 'true false true true false');
});

interface Rendered {
  /** A template, or the name of a file with one. */
  readonly source: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly rendered: string;
}

test('characters are taken away from a text as jinja2 does, see `fixtures/make_template_fixture.py`', () => {
  const cases = JSON.parse(readFileSync(fixtureFolder('templates.json'), 'utf8')) as readonly Rendered[];
  for (const { source, variables, rendered } of cases) {
    const isFile = source.endsWith('.jinja');
    const template = new BoundedTemplate(isFile ? readFileSync(fixtureFolder(source), 'utf8') : source);
    assert.equal(template.render(variables), rendered, JSON.stringify({ source, variables }));
  }
});

test('a conversation of thousands of messages is within the bound', () => {
  const source =
    '{% for m in messages %}{% if m.role == "user" %}U {{ m.content|trim }}{% else %}A {{ m.content }}{% endif %}{% endfor %}';
  const messages = Array.from({ length: 5000 }, (_, index) => ({
    role: index % 2 ? 'assistant' : 'user',
    content: 'x'.repeat(2000),
  }));
  assert.equal(new BoundedTemplate(source).render({ messages }).length, 5000 * 2002);
});
