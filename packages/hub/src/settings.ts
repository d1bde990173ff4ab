/** Reads the variables of Python's `huggingface_hub` as it does (its `constants.py` and `utils/_auth.py`). */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { HubError, isMissing } from './hubError.js';

export interface HubSettings {
  /** Address of the hub, without a slash at the end. */
  readonly endpoint: string;
  /** Proves to the hub, and to no other host, who asks. `null` for anonymous requests. */
  readonly token: Token | null;
  /** Absolute. */
  readonly cacheFolder: string;
  /** Nothing may be asked of the network. */
  readonly offline: boolean;
}

export interface Token {
  /** Never to be printed. */
  readonly secret: string;
  /** The variable or the file that it came from. */
  readonly source: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const defaultEndpoint = 'https://huggingface.co';

/**
 * `HF_ENDPOINT`; `HF_TOKEN`, else the file that `HF_TOKEN_PATH` names, else `$HF_HOME/token`; `HF_HUB_CACHE`, else
 * `$HF_HOME/hub`; `HF_HOME`, else `~/.cache/huggingface`. An empty variable counts as unset.
 * @throws HubError `settings_invalid` that names the variable, but no token
 */
export async function readHubSettings(
  env: Environment = process.env,
  homeFolder: string = homedir(),
): Promise<HubSettings> {
  const given = (name: string): string | undefined => {
    const text = env[name]?.trim();
    return text === '' ? undefined : text;
  };
  const folder = (text: string): string => path.resolve(expanded(text, env, homeFolder));
  const cacheHome = given('XDG_CACHE_HOME') ?? path.join(homeFolder, '.cache');
  const home = folder(given('HF_HOME') ?? path.join(cacheHome, 'huggingface'));
  const tokenFile = folder(given('HF_TOKEN_PATH') ?? path.join(home, 'token'));
  return {
    endpoint: endpointOf(given('HF_ENDPOINT') ?? defaultEndpoint),
    token: isTrue(given('HF_HUB_DISABLE_IMPLICIT_TOKEN')) ? null : await findToken(given, tokenFile),
    cacheFolder: folder(given('HF_HUB_CACHE') ?? given('HUGGINGFACE_HUB_CACHE') ?? path.join(home, 'hub')),
    offline: isTrue(given('HF_HUB_OFFLINE') ?? given('TRANSFORMERS_OFFLINE')),
  };
}

/** `~` at the beginning, `$NAME` and `${NAME}`. An unset name stays as it is, as in Python. */
function expanded(text: string, env: Environment, homeFolder: string): string {
  return text
    .replace(/^~(?=[/\\]|$)/, homeFolder)
    .replace(/\$(?:\{(\w+)\}|(\w+))/g, (whole: string, braced?: string, bare?: string) => {
      return env[braced ?? bare ?? ''] ?? whole;
    });
}

function isTrue(value: string | undefined): boolean {
  return ['1', 'ON', 'YES', 'TRUE'].includes((value ?? '').toUpperCase());
}

function endpointOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new HubError('settings_invalid', 'HF_ENDPOINT must be an address that starts with http:// or https://');
  }
  // `fetch` refuses such an address, and would put the password into its message.
  if (url.username !== '' || url.password !== '') {
    throw new HubError('settings_invalid', 'HF_ENDPOINT must hold no user and password: HF_TOKEN is for that');
  }
  return text.replace(/\/+$/, '');
}

async function findToken(given: (name: string) => string | undefined, tokenFile: string): Promise<Token | null> {
  for (const name of ['HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN']) {
    const token = tokenOf(given(name) ?? '', name);
    if (token !== null) return token;
  }
  try {
    return tokenOf(await readFile(tokenFile, 'utf8'), tokenFile);
  } catch (error) {
    if (error instanceof HubError) throw error;
    if (isMissing(error)) return null;
    const message = `the token in ${tokenFile} cannot be read; HF_TOKEN takes its place`;
    throw new HubError('settings_invalid', message, { cause: error });
  }
}

function tokenOf(text: string, source: string): Token | null {
  const secret = text.replaceAll(/[\r\n]/g, '').trim();
  if (secret === '') return null;
  // Node would print a token that is no valid header value in its own error.
  if (/^[\x21-\x7e]+$/.test(secret)) return { secret, source };
  throw new HubError('settings_invalid', `${source} holds no token: it has a space or a character beyond ASCII`);
}
