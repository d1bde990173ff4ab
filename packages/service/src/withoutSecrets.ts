/** Shorter secrets occur in too many other words. */
const minSecretLength = 4;

/**
 * Removes the secrets of the environment from a text that the command line will print: the values of variables named
 * like keys, tokens, secrets or passwords, and the passwords in addresses. Our own messages quote none. This is for
 * messages of libraries, which quote what they cannot read.
 */
export function withoutSecrets(text: string, env: NodeJS.ProcessEnv = process.env): string {
  const secrets = Object.entries(env).flatMap(([name, value = '']) => secretsIn(name, value));
  return secrets
    .filter(([secret]) => secret.length >= minSecretLength)
    .sort(([one], [other]) => other.length - one.length)
    .reduce((shown, [secret, name]) => shown.replaceAll(secret, `<${name}>`), text);
}

/** Each as it is, and as a message may quote it. */
function secretsIn(name: string, value: string): [secret: string, name: string][] {
  const named = /(^|_|^PG)(key|token|secret|password|pass)$/i.test(name);
  const whole = named ? [value, value.trim(), JSON.stringify(value).slice(1, -1)] : [];
  return [...whole, ...passwordsIn(value)].map((secret) => [secret, name]);
}

/** Between the first colon and the last `@`, even in an address that cannot be parsed. */
function passwordsIn(value: string): string[] {
  const user = /^\s*[a-z][a-z\d+.-]*:\/\/(.*)@/is.exec(value)?.[1];
  if (user === undefined) return [];
  const password = user.slice(user.indexOf(':') + 1);
  return [`${user}@`, password, decoded(password)];
}

function decoded(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}
