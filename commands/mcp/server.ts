/**
 * A server of the Model Context Protocol on standard input and output: JSON-RPC, one message a line.
 *
 * Source: https://modelcontextprotocol.io/specification/2025-06-18.
 */
import { createInterface } from 'node:readline';
import type { Services, Tool } from './tools.ts';

const VERSIONS = ['2025-06-18', '2025-03-26', '2024-11-05'];
/** Codes of JSON-RPC 2.0. */
const UNREADABLE = -32700;
const NO_REQUEST = -32600;
const NO_METHOD = -32601;
const WRONG_PARAMETERS = -32602;
const OUR_FAULT = -32603;

interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: string | number;
  readonly method?: unknown;
  readonly params?: Readonly<Record<string, unknown>>;
}

class Refusal extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Answers until the input ends. Calls run beside each other. */
export async function serveTools(
  tools: readonly Tool[],
  services: Services,
  version: string,
  { input, write }: { input: NodeJS.ReadableStream; write(line: string): void },
): Promise<void> {
  const send = (message: object) => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const running = new Set<Promise<void>>();
  for await (const line of createInterface({ input })) {
    if (line.trim() === '') continue;
    const message = parsed(line);
    if (message instanceof Refusal) {
      send({ id: null, error: { code: message.code, message: message.message } });
      continue;
    }
    const { id } = message;
    // A notification gets no answer.
    if (id === undefined) continue;
    const answered = answer(message, tools, services, version).then(
      (result) => send({ id, result }),
      (error: Error) =>
        send({
          id,
          error: { code: error instanceof Refusal ? error.code : OUR_FAULT, message: error.message },
        }),
    );
    running.add(answered);
    void answered.then(() => running.delete(answered));
  }
  await Promise.all(running);
}

function parsed(line: string): Message | Refusal {
  try {
    const value = JSON.parse(line);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    return new Refusal(NO_REQUEST, 'The line is no message.');
  } catch {
    return new Refusal(UNREADABLE, 'The line is no JSON.');
  }
}

async function answer(
  { jsonrpc, method, params = {} }: Message,
  tools: readonly Tool[],
  services: Services,
  version: string,
): Promise<object> {
  if (jsonrpc !== '2.0') throw new Refusal(NO_REQUEST, 'The message has no "jsonrpc": "2.0".');
  switch (method) {
    case 'initialize': {
      const asked = String(params['protocolVersion']);
      return {
        protocolVersion: VERSIONS.includes(asked) ? asked : VERSIONS[0],
        capabilities: { tools: {} },
        serverInfo: { name: 'sealwright', version },
      };
    }
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: tools.map(({ run, ...described }) => described) };
    case 'tools/call':
      return call(tools, services, params);
    default:
      throw new Refusal(NO_METHOD, `The method ${method} is not known.`);
  }
}

/** A failure of a tool is a result: the model reads it and can do better. */
async function call(
  tools: readonly Tool[],
  services: Services,
  params: Readonly<Record<string, unknown>>,
): Promise<object> {
  const found = tools.find(({ name }) => name === params['name']);
  if (found === undefined) throw new Refusal(WRONG_PARAMETERS, `There is no tool ${params['name']}.`);
  const input = (params['arguments'] ?? {}) as Readonly<Record<string, unknown>>;
  const { properties, required } = found.inputSchema;
  const missing = required.filter((name) => input[name] === undefined);
  const unknown = Object.keys(input).filter((name) => properties[name] === undefined);
  if (missing.length > 0 || unknown.length > 0)
    throw new Refusal(
      WRONG_PARAMETERS,
      [
        ...missing.map((name) => `${name} is missing.`),
        ...unknown.map((name) => `${name} is not known.`),
      ].join(' '),
    );
  try {
    const result = await found.run(input, services);
    return { content: [{ type: 'text', text: JSON.stringify(result ?? {}, null, 1) }] };
  } catch (error) {
    const { code = '', message } = error as { code?: unknown; message: string };
    const text = code === '' ? message : `${code}: ${message}`;
    return { isError: true, content: [{ type: 'text', text }] };
  }
}
