/**
 * A server of the Model Context Protocol on standard input and output: JSON-RPC, one message a line.
 *
 * Source: https://modelcontextprotocol.io/specification/2025-11-25.
 */
import { faultsOf, type Services, type Tool } from './tools.ts';

const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
/** Characters of one message. */
const MAX_LINE = 1024 * 1024;
/** Messages that are answered at the same time. */
const MAX_RUNNING = 16;
/** Codes of JSON-RPC 2.0. */
const UNREADABLE = -32700;
const NO_REQUEST = -32600;
const NO_METHOD = -32601;
const WRONG_PARAMETERS = -32602;
const OUR_FAULT = -32603;
/** Of the range for servers: the message can be sent again later. */
const BUSY = -32000;

type Input = Readonly<Record<string, unknown>>;

interface Request {
  readonly id: string | number;
  readonly method: string;
  readonly params: Input;
}

class Refusal extends Error {
  readonly code: number;
  readonly id: string | number | null;
  constructor(code: number, message: string, id: string | number | null = null) {
    super(message);
    this.code = code;
    this.id = id;
  }
}

/** Answers until the input ends. Calls run beside each other. */
export async function serveTools(
  tools: readonly Tool[],
  services: Services,
  { input, write }: { readonly input: NodeJS.ReadableStream; readonly write: (line: string) => void },
): Promise<void> {
  const send = (message: object) => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const refuse = (id: string | number | null, error: unknown) =>
    send({
      id,
      error: {
        code: error instanceof Refusal ? error.code : OUR_FAULT,
        message: error instanceof Error ? error.message : String(error),
      },
    });
  const running = new Set<Promise<void>>();
  for await (const line of linesOf(input)) {
    const request = requestIn(line);
    if (request === undefined) continue;
    if (request instanceof Refusal) refuse(request.id, request);
    else if (running.size >= MAX_RUNNING)
      refuse(request.id, new Refusal(BUSY, `${MAX_RUNNING} calls are in progress. Wait for one of them.`));
    else {
      const answered = answer(request, tools, services).then(
        (result) => send({ id: request.id, result }),
        (error: unknown) => refuse(request.id, error),
      );
      running.add(answered);
      void answered.then(() => running.delete(answered));
    }
  }
  await Promise.all(running);
}

/** Lines that end with a line feed, and no other character; undefined for one that is too long. */
async function* linesOf(input: NodeJS.ReadableStream): AsyncGenerator<string | undefined> {
  input.setEncoding('utf8');
  let begun = '';
  let isTooLong = false;
  for await (const chunk of input) {
    const parts = String(chunk).split('\n');
    const rest = parts.pop() ?? '';
    for (const part of parts) {
      yield isTooLong || begun.length + part.length > MAX_LINE ? undefined : begun + part;
      begun = '';
      isTooLong = false;
    }
    isTooLong ||= begun.length + rest.length > MAX_LINE;
    begun = isTooLong ? '' : begun + rest;
  }
  if (begun !== '') yield begun;
}

/** Undefined for what gets no answer: an empty line, a notification, and an answer of the other side. */
function requestIn(line: string | undefined): Request | Refusal | undefined {
  if (line === undefined) return new Refusal(NO_REQUEST, `A message has at most ${MAX_LINE} characters.`);
  if (line.trim() === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return new Refusal(UNREADABLE, 'The line is no JSON.');
  }
  if (!isObject(value))
    return new Refusal(NO_REQUEST, 'The line is no message; several in one are not read.');
  const { jsonrpc, id, method, params = {} } = value;
  if (id === undefined || (method === undefined && ('result' in value || 'error' in value))) return undefined;
  if (typeof id !== 'string' && typeof id !== 'number')
    return new Refusal(NO_REQUEST, 'The id of a message is a text or a number.');
  if (jsonrpc !== '2.0' || typeof method !== 'string')
    return new Refusal(NO_REQUEST, 'The message needs "jsonrpc": "2.0" and a method.', id);
  if (!isObject(params)) return new Refusal(WRONG_PARAMETERS, 'The params are no object.', id);
  return { id, method, params };
}

function isObject(value: unknown): value is Input {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function answer(
  { method, params }: Request,
  tools: readonly Tool[],
  services: Services,
): Promise<object> {
  switch (method) {
    case 'initialize': {
      const asked = String(params['protocolVersion']);
      return {
        protocolVersion: VERSIONS.includes(asked) ? asked : VERSIONS[0],
        capabilities: { tools: {} },
        serverInfo: { name: 'sealwright', version: process.env['SEALWRIGHT_MCP_VERSION'] ?? 'development' },
      };
    }
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: tools.map(({ run, ...described }) => described) };
    case 'tools/call':
      return call(tools, services, params);
    default:
      throw new Refusal(NO_METHOD, `The method ${method.slice(0, 100)} is not known.`);
  }
}

/** A failure of a tool is a result: the model reads it and can do better. */
async function call(tools: readonly Tool[], services: Services, params: Input): Promise<object> {
  const found = tools.find(({ name }) => name === params['name']);
  if (found === undefined)
    throw new Refusal(WRONG_PARAMETERS, `There is no tool ${String(params['name']).slice(0, 100)}.`);
  const input = params['arguments'] ?? {};
  if (!isObject(input)) throw new Refusal(WRONG_PARAMETERS, 'The arguments are no object.');
  const faults = faultsOf(found.inputSchema, input);
  if (faults.length > 0) throw new Refusal(WRONG_PARAMETERS, faults.slice(0, 10).join(' '));
  try {
    const result = await found.run(input, services);
    return { content: [{ type: 'text', text: JSON.stringify(result ?? {}, null, 1) }] };
  } catch (error) {
    const { code = '', message } = error as { readonly code?: unknown; readonly message: string };
    const text = code === '' ? message : `${code}: ${message}`;
    return { isError: true, content: [{ type: 'text', text }] };
  }
}
