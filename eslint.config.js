import tseslint from 'typescript-eslint';

/**
 * One casing for all code. `snake_case` is what wires, files and the database call a thing. So fields may have it, and
 * the variables that a pattern takes out of them by their own names.
 */
const naming = [
  'error',
  { selector: 'default', format: ['camelCase'], leadingUnderscore: 'allowSingleOrDouble', trailingUnderscore: 'allow' },
  { selector: 'typeLike', format: ['PascalCase'] },
  // The name of a bound begins with `max` or `min`.
  {
    selector: ['variable', 'parameter'],
    format: ['camelCase'],
    custom: { regex: '[a-z0-9](Max|Min)$', match: false },
    leadingUnderscore: 'allowSingleOrDouble',
    trailingUnderscore: 'allow',
  },
  { selector: ['variable', 'parameter'], modifiers: ['destructured'], format: null },
  { selector: 'memberLike', format: null },
  { selector: 'import', format: null },
];

/** JSX tells a component from an element of HTML by its capital letter. */
const component = { selector: 'function', format: ['camelCase', 'PascalCase'] };

export default tseslint.config(
  { ignores: ['**/dist/**', '**/node_modules/**', 'models/**', '.engraft/**'] },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      // Numbers and booleans read well inside messages; anything else must be made a string on purpose.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      // node:test registers tests by promise-returning calls that the runner itself awaits.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', package: 'node:test', name: ['test', 'describe', 'it', 'suite'] },
          ],
        },
      ],
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      // Prettier breaks code at the same width. It cannot break what is long by nature.
      'max-len': [
        'error',
        {
          code: 120,
          ignoreComments: true,
          ignoreUrls: true,
          ignoreStrings: true,
          ignoreTemplateLiterals: true,
          ignoreRegExpLiterals: true,
        },
      ],
      eqeqeq: 'error',
      'no-console': 'error',
    },
  },
  {
    files: ['packages/engine/**/*.ts'],
    rules: {
      'max-len': [
        'error',
        { code: 120, ignoreUrls: true, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true },
      ],
    },
  },
  {
    files: ['**/*.ts', '**/*.tsx', '**/*.mjs'],
    languageOptions: { parser: tseslint.parser },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: { '@typescript-eslint/naming-convention': naming },
  },
  {
    files: ['**/*.tsx'],
    rules: { '@typescript-eslint/naming-convention': [...naming, component] },
  },
  {
    files: ['**/*.test.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      'max-lines-per-function': 'off',
    },
  },
  { files: ['scripts/**', 'bench/**', 'packages/service/src/cli/**'], rules: { 'no-console': 'off' } },
);
