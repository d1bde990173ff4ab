/**
 * Which part of the house may know which. Each rule carries its reason; `npm test` enforces them on the sources.
 */
const onlyMayUse = (name, allowed, comment, { except } = {}) => ({
  name: `${name}-knows-only-${allowed.join('-') || 'itself'}`,
  comment,
  severity: 'error',
  from: { path: `^packages/${name}/src`, ...(except === undefined ? {} : { pathNot: except }) },
  to: { path: '^packages/([^/]+)/', pathNot: [name, ...allowed].map((each) => `^packages/${each}/`) },
});

/**
 * The folders of a package, in the order in which a passage goes through them: none knows a later one, nor the files
 * that put them together.
 */
const inOrder = (name, folders, whole, comment) =>
  folders.map((folder, index) => ({
    name: `${name}-${folder}-knows-no-later-step`,
    comment,
    severity: 'error',
    from: { path: `^packages/${name}/src/${folder}/`, pathNot: '[.]test[.]ts$' },
    to: {
      path: [
        ...folders.slice(index + 1).map((later) => `^packages/${name}/src/${later}/`),
        ...whole.map((file) => `^packages/${name}/src/${file}[.]ts$`),
      ],
    },
  }));

module.exports = {
  forbidden: [
    onlyMayUse('contract', [], 'The wire contract is what everybody agrees on; it must not depend on how it is kept.'),
    onlyMayUse('engine', [], 'The engine knows models, tokens and adapters, and could be published on its own.'),
    onlyMayUse(
      'engine-vllm',
      ['engine'],
      'An engine that computes elsewhere knows what an engine is, and neither tenants nor money.',
    ),
    onlyMayUse(
      'trainer-peft',
      ['engine'],
      'A training that computes elsewhere knows what a training is, and neither passages nor money.',
    ),
    onlyMayUse(
      'learning',
      ['engine'],
      'Learning is a recipe over the engine primitives: no teacher of one language; tenants and money stay outside.',
    ),
    onlyMayUse(
      'teacher-english',
      ['engine', 'learning'],
      'A teacher knows the pipeline that asks it; of how learning is measured or served it needs nothing.',
    ),
    onlyMayUse(
      'evaluation',
      ['engine', 'learning'],
      'What learning is worth is measured alike whoever teaches: the teacher is given.',
      { except: '[.]test[.]ts$' },
    ),
    onlyMayUse(
      'client',
      ['contract'],
      'The client is what an application would install: the contract and nothing of the server.',
    ),
    onlyMayUse(
      'console',
      ['contract'],
      'The console runs in browsers: of the service it knows what its interface says, and nothing else.',
    ),
    onlyMayUse(
      'hub',
      [],
      'A hub has models of any kind; which of their files are read, and which model is refused, is told by whoever pulls.',
    ),
    onlyMayUse(
      'service',
      [
        'contract',
        'engine',
        'engine-vllm',
        'trainer-peft',
        'learning',
        'teacher-english',
        'evaluation',
        'client',
        'hub',
      ],
      'The service puts the parts together.',
    ),
    ...inOrder(
      'learning',
      ['text', 'recipe', 'budget', 'teaching', 'teachers', 'training', 'gate'],
      ['learnPassage', 'parts', 'index'],
      'What reads a text must be readable without what teaches it, and that without what trains.',
    ),
    ...inOrder(
      'teacher-english',
      ['english', 'spans', 'questions', 'teaching'],
      ['englishTeacher', 'index'],
      'What finds questions in a text must be readable without what asks a model about them.',
    ),
    ...inOrder(
      'evaluation',
      ['squad', 'teacherTraining', 'measuring'],
      ['index'],
      'Training a teacher needs nothing of how learning is measured.',
    ),
    {
      name: 'learning-is-asked-through-its-doors',
      comment: 'Packages take from learning what `index.ts` and `parts.ts` give, so that the rest can change.',
      severity: 'error',
      from: { path: '^packages/(?!learning/)' },
      to: { path: '^packages/learning/', pathNot: '/(?:dist|src)/(?:index|parts|testing/[^/]+)[.](?:d[.]ts|js|ts)$' },
    },
    {
      name: 'no-cycles',
      comment: 'A cycle between files means that neither can be read or tested first.',
      severity: 'error',
      from: { pathNot: 'node_modules|/dist/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-cycles-of-types-in-the-engine',
      comment: 'A cycle of types means that a type sits in the wrong file; give it a file of its own.',
      severity: 'error',
      from: { path: '^packages/engine/src/' },
      to: { circular: true },
    },
    {
      name: 'engine-support-knows-no-models',
      comment: 'Helpers for files, memory and threads must be usable by every folder of the engine.',
      severity: 'error',
      from: { path: '^packages/engine/src/support/', pathNot: '[.]test[.]ts$' },
      to: { path: '^packages/engine/src/(?!support/|engine[.]ts$|types[.]ts$)' },
    },
    {
      name: 'callers-of-the-domain-hold-no-sql',
      comment: 'They call domain functions; SQL stays in the query files of its domain.',
      severity: 'error',
      from: { path: '^packages/service/src/(http|worker|erasure|moving|cli)/', pathNot: '[.]test[.]ts$' },
      to: { path: 'node_modules/(kysely|pg)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'domain-knows-no-http',
      comment: 'Domain folders return outcomes; only http/ turns them into responses.',
      severity: 'error',
      from: {
        path: '^packages/service/src/',
        pathNot: '^packages/service/src/(http|startup|cli|testing)/|[.]test[.]ts$',
      },
      to: { path: '^packages/service/src/http/|node_modules/fastify/' },
    },
    {
      name: 'domain-knows-no-worker',
      comment:
        'The worker calls the domain; who admits, keeps or moves what it does needs nothing of how it runs jobs.',
      severity: 'error',
      from: {
        path: '^packages/service/src/',
        pathNot: '^packages/service/src/(worker|startup|cli|testing)/|[.]test[.]ts$',
      },
      to: { path: '^packages/service/src/(worker|cli)/' },
    },
    {
      name: 'only-the-engine-runs-models',
      comment: 'ONNX Runtime and the tokenizer live behind the engine interface.',
      severity: 'error',
      from: { path: '^packages/(?!engine/)' },
      to: { path: 'node_modules/(onnxruntime-node|koffi|@huggingface/(gguf|jinja|tokenizers))/' },
    },
    {
      name: 'only-the-hub-package-asks-hubs',
      comment: 'Whoever asks a hub must keep its token from others, which the hub package does for all.',
      severity: 'error',
      from: { path: '^packages/(?!hub/)' },
      to: { path: 'node_modules/@huggingface/hub/' },
    },
    {
      name: 'product-needs-no-test-tools',
      comment: 'What runs in production must install without the development dependencies.',
      severity: 'error',
      from: { path: '^packages/[^/]+/src', pathNot: '[.]test[.]ts$|/testing/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'everything-resolves',
      comment: 'An import that resolves to nothing fails at run time.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '/dist/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
