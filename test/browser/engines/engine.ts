/**
 * Drives Firefox ESR and WebKitGTK by the commands of W3C WebDriver: Firefox takes them over its Marionette socket, WebKit
 * over HTTP from WebKitWebDriver, which starts the MiniBrowser of its package.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { freePort } from '../../commands/free-port.ts';
import { reached } from '../../project/waiting.ts';

export type EngineName = 'firefox' | 'webkit';

export interface EngineOptions {
  /** Size of the window, CSS pixels. @default 1280 × 900 */
  readonly size?: { readonly width: number; readonly height: number };
  /** Preferences of Firefox. */
  readonly preferences?: { readonly [name: string]: string | number | boolean };
  /** Proxy for plain HTTP to names that are not loopback, `host:port`. */
  readonly proxy?: string;
}

/** Name of an element in the replies of WebDriver. Source: W3C WebDriver, "Elements". */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';
type ElementReference = { readonly [ELEMENT]: string };

/** One action of a pointer. */
export type PointerStep =
  | { readonly type: 'pointerMove'; readonly x: number; readonly y: number; readonly duration: number }
  | { readonly type: 'pointerDown' | 'pointerUp'; readonly button: 0 }
  | { readonly type: 'pause'; readonly duration: number };

/** Sends a command: its path with method for HTTP, its name for Marionette. */
type Send = (
  http: `${'GET' | 'POST' | 'DELETE'} ${string}`,
  marionette: string,
  body?: object,
) => Promise<unknown>;

type Ending = Pick<ExecutionContext, 'teardown'>;

/** Engines of the file, and what ends them. */
const running = new Map<EngineName, Engine>();
const ends: (() => unknown)[] = [];

/** Ends the engines that tests share; call it in `test.after.always`. */
export async function closeEngines(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}

/** Tools of the tests of an engine. */
export const ENGINE_TOOLS = { firefox: ['firefox-esr'], webkit: ['WebKitWebDriver', 'Xvfb'] } as const;

/** Pause between two questions, which cost the browser time. */
const pause = () => sleep(25);

export class Engine {
  readonly name: EngineName;
  readonly #send: Send;

  private constructor(name: EngineName, send: Send) {
    this.name = name;
    this.#send = send;
  }

  /** It ends with the test. */
  static async start(t: ExecutionContext, name: EngineName, options?: EngineOptions): Promise<Engine> {
    return Engine.#launch(t, name, options);
  }

  /** The same program for all tests of a file, which `closeEngines` ends. @param options of the first call */
  static async shared(name: EngineName, options?: EngineOptions): Promise<Engine> {
    const engine =
      running.get(name) ?? (await Engine.#launch({ teardown: (end) => void ends.push(end) }, name, options));
    running.set(name, engine);
    await engine.enter(undefined);
    await engine.open('about:blank');
    return engine;
  }

  static async #launch(
    t: Ending,
    name: EngineName,
    { size = { width: 1280, height: 900 }, preferences = {}, proxy }: EngineOptions = {},
  ): Promise<Engine> {
    const home = mkdtempSync(join(tmpdir(), `sealwright-${name}-`));
    t.teardown(() => rmSync(home, { recursive: true, force: true, maxRetries: 9 }));
    const send =
      name === 'firefox'
        ? await startFirefox(t, home, { ...preferences, ...(proxy !== undefined && proxyOf(proxy)) })
        : await startWebKit(t, home, proxy);
    const engine = new Engine(name, send);
    await send('POST /window/rect', 'WebDriver:SetWindowRect', { x: 0, y: 0, ...size });
    return engine;
  }

  /** Loads a page. */
  async open(url: string): Promise<void> {
    await this.#send('POST /url', 'WebDriver:Navigate', { url });
  }

  async back(): Promise<void> {
    await this.#send('POST /back', 'WebDriver:Back');
  }

  async reload(): Promise<void> {
    await this.#send('POST /refresh', 'WebDriver:Refresh');
  }

  /** Value of an expression in the page. */
  async value<Value>(expression: string): Promise<Value> {
    const script = `return (${expression})`;
    return (await this.#send('POST /execute/sync', 'WebDriver:ExecuteScript', {
      script,
      args: [],
      // Marionette only: objects that a script leaves on the window are those of the page.
      sandbox: null,
    })) as Value;
  }

  /** Resolves once an expression holds in the page. */
  async until(expression: string): Promise<void> {
    let last: unknown;
    const isSo = async () => {
      try {
        last = await this.value(expression);
      } catch (error) {
        // The page is being replaced by another one.
        last = error;
      }
      return last !== undefined && last !== null && last !== false && !(last instanceof Error);
    };
    await reached(isSo, pause).catch(() => {
      throw new Error(`${this.name} waited in vain for ${expression}; last: ${String(last)}`);
    });
  }

  /** Directs the commands to a frame of the page; undefined: to the page itself. */
  async enter(selector: string | undefined): Promise<void> {
    const frame = selector === undefined ? undefined : await this.#find(selector);
    await this.#send('POST /frame', 'WebDriver:SwitchToFrame', {
      id: frame ?? null,
      // Marionette only.
      ...(frame !== undefined && { element: frame[ELEMENT] }),
    });
  }

  /** Resolves once the page shows a text. */
  async shows(text: string): Promise<void> {
    await this.until(`document.body.innerText.includes(${JSON.stringify(text)})`);
  }

  async #find(selector: string): Promise<ElementReference> {
    await this.until(`document.querySelector(${JSON.stringify(selector)}) !== null`);
    return (await this.#send('POST /element', 'WebDriver:FindElement', {
      using: 'css selector',
      value: selector,
    })) as ElementReference;
  }

  /** Presses the first element that matches. */
  async press(selector: string): Promise<void> {
    const { [ELEMENT]: id } = await this.#find(selector);
    await this.value(
      `document.querySelector(${JSON.stringify(selector)}).scrollIntoView({ block: 'center' })`,
    );
    let refusal: unknown;
    const isPressed = async () => {
      try {
        await this.#send(`POST /element/${id}/click`, 'WebDriver:ElementClick', { id });
        return true;
      } catch (error) {
        // The page is still being laid out, or scrolls.
        if (!/not interactable|intercepted/.test(String(error))) throw error;
        refusal = error;
        return false;
      }
    };
    await reached(isPressed, pause).catch(() => {
      throw new Error(`${this.name} cannot press ${selector}: ${String(refusal)}`);
    });
  }

  /** Types into a field; into a field of files, the path of the file. */
  async type(selector: string, text: string): Promise<void> {
    const { [ELEMENT]: id } = await this.#find(selector);
    await this.#send(`POST /element/${id}/value`, 'WebDriver:ElementSendKeys', { id, text });
  }

  /** Moves the pointers at the same time; positions in the window, CSS pixels. */
  async point(
    pointerType: 'mouse' | 'touch',
    ...pointers: readonly (readonly PointerStep[])[]
  ): Promise<void> {
    await this.#send('POST /actions', 'WebDriver:PerformActions', {
      actions: pointers.map((actions, index) => ({
        type: 'pointer',
        id: `pointer-${index}`,
        parameters: { pointerType },
        actions,
      })),
    });
  }

  /** Prints with the command of the browser itself; WebKit has none. */
  async print(): Promise<Buffer> {
    return Buffer.from(String(await this.#send('POST /print', 'WebDriver:Print')), 'base64');
  }

  /** Takes a picture of an element, PNG. */
  async picture(selector: string): Promise<Buffer> {
    const { [ELEMENT]: id } = await this.#find(selector);
    const picture = await this.#send(`GET /element/${id}/screenshot`, 'WebDriver:TakeScreenshot', {
      id,
      full: false,
    });
    return Buffer.from(String(picture), 'base64');
  }
}

/** Firefox chooses its port and writes it into the folder of the profile. */
async function startFirefox(
  t: Ending,
  home: string,
  preferences: NonNullable<EngineOptions['preferences']>,
): Promise<Send> {
  const all = {
    'marionette.port': 0,
    'app.update.enabled': false,
    'browser.shell.checkDefaultBrowser': false,
    'datareporting.policy.dataSubmissionEnabled': false,
    'network.captive-portal-service.enabled': false,
    'network.connectivity-service.enabled': false,
    'intl.accept_languages': 'en-US',
    ...preferences,
  };
  const lines = Object.entries(all).map(
    ([key, value]) => `user_pref(${JSON.stringify(key)}, ${JSON.stringify(value)});\n`,
  );
  writeFileSync(join(home, 'user.js'), lines.join(''));
  const browser = spawn('firefox-esr', ['--headless', '--marionette', '--no-remote', '--profile', home], {
    env: { ...process.env, HOME: home },
    stdio: 'ignore',
  });
  endWith(t, browser);
  const file = join(home, 'MarionetteActivePort');
  await reached(() => existsSync(file) && readFileSync(file, 'utf8') !== '');
  const socket = connect(Number(readFileSync(file, 'utf8')), '127.0.0.1');
  const marionette = new Marionette(socket);
  await once(socket, 'connect');
  t.teardown(() => socket.destroy());
  await marionette.call('WebDriver:NewSession', { capabilities: {} });
  return async (_http, name, body = {}) => {
    const reply = await marionette.call(name, body);
    return reply !== null && typeof reply === 'object' && 'value' in reply ? reply.value : reply;
  };
}

function proxyOf(address: string): NonNullable<EngineOptions['preferences']> {
  const { hostname, port } = new URL(`http://${address}`);
  return {
    'network.proxy.type': 1,
    'network.proxy.http': hostname,
    'network.proxy.http_port': Number(port),
  };
}

/** Messages of Marionette: `<length>:[0, id, command, parameters]`, and replies `<length>:[1, id, error, result]`. */
class Marionette {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #taken = Buffer.alloc(0);
  #last = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (part: Buffer) => this.#take(part));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('Firefox closed the connection.'));
    });
  }

  call(name: string, parameters: object): Promise<unknown> {
    this.#last += 1;
    const id = this.#last;
    const text = JSON.stringify([0, id, name, parameters]);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
  }

  #take(part: Buffer): void {
    this.#taken = Buffer.concat([this.#taken, part]);
    for (;;) {
      const colon = this.#taken.indexOf(':');
      const end = colon + 1 + Number(this.#taken.subarray(0, Math.max(colon, 0)).toString());
      if (colon < 0 || this.#taken.length < end) return;
      const message: unknown = JSON.parse(this.#taken.subarray(colon + 1, end).toString());
      this.#taken = this.#taken.subarray(end);
      // The first message is a greeting.
      if (!Array.isArray(message)) continue;
      const [, id, error, result] = message;
      const call = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === null) call?.resolve(result);
      else call?.reject(new Error(`${error.error}: ${error.message}`));
    }
  }
}

async function startWebKit(t: Ending, home: string, proxy: string | undefined): Promise<Send> {
  // The display server chooses its number and writes it to the third descriptor.
  const display = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1400x1000x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  endWith(t, display);
  const [number] = await once(display.stdio[3] as Socket, 'data');
  const port = await freePort();
  const driver = spawn('WebKitWebDriver', [`--port=${port}`], {
    env: {
      ...process.env,
      DISPLAY: `:${String(number).trim()}`,
      HOME: home,
      XDG_RUNTIME_DIR: home,
      LANG: 'C.UTF-8',
      // No session bus, no graphics card.
      NO_AT_BRIDGE: '1',
      GSETTINGS_BACKEND: 'memory',
      LIBGL_ALWAYS_SOFTWARE: '1',
    },
    stdio: 'ignore',
  });
  endWith(t, driver);
  const call = async (method: string, path: string, body: object | undefined): Promise<unknown> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(method === 'POST' && { body: JSON.stringify(body ?? {}) }),
    });
    const { value } = (await answer.json()) as { value: unknown };
    if (!answer.ok) throw new Error(JSON.stringify(value));
    return value;
  };
  await reached(() => call('GET', '/status', undefined).catch(() => undefined));
  const { sessionId } = (await call('POST', '/session', {
    capabilities: {
      alwaysMatch: proxy === undefined ? {} : { proxy: { proxyType: 'manual', httpProxy: proxy } },
    },
  })) as { sessionId: string };
  // The browser is a child of the driver, which ends it with the session.
  t.teardown(() => call('DELETE', `/session/${sessionId}`, undefined));
  return (http, _name, body) => {
    const [method = '', path = ''] = http.split(' ');
    return call(method, `/session/${sessionId}${path}`, body);
  };
}

function endWith(t: Ending, child: ChildProcess): void {
  const ended = once(child, 'exit');
  t.teardown(async () => {
    child.kill();
    await ended;
  });
}
