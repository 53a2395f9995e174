/**
 * Encrypts the PDFs of `build.ts`, with an empty user password, with methods that no installed tool supports.
 * Keys are made here from the standard; the ciphers themselves are tested against published values elsewhere.
 */
import { createCipheriv, createHash } from 'node:crypto';
import { rc4 } from '#crypto/pdf/encryption/crypt-method.js';
import { FILE_ID, type FileShape } from './build.ts';

export interface EncryptionShape {
  readonly version: 1 | 2 | 4;
  /** Bytes. @default 5 for version 1, 16 for others */
  readonly length?: number;
  /** @default 'V2' for strings and for streams; only version 4 has a choice */
  readonly strings?: 'V2' | 'AESV2' | 'Identity';
  readonly streams?: 'V2' | 'AESV2' | 'Identity';
  readonly encryptMetadata?: boolean;
  /** /P. @default -4, everything */
  readonly permissions?: number;
  /** Number of the encryption dictionary, which `objects` must leave free; undefined writes it into the trailer. */
  readonly number?: number;
}

const FILL = Buffer.from(
  '(\xbfN^Nu\x8aAd\x00NV\xff\xfa\x01\x08..\x00\xb6\xd0h>\x80/\x0c\xa9\xfedSiz',
  'latin1',
);

const md5 = (...parts: readonly Buffer[]) => createHash('md5').update(Buffer.concat(parts)).digest();

const xored = (key: Buffer, by: number) => Buffer.from(key.map((byte) => byte ^ by));

interface Keys {
  readonly key: Buffer;
  readonly owner: Buffer;
  readonly user: Buffer;
}

function keysOf(shape: EncryptionShape, revision: number, length: number): Keys {
  let digest = md5(Buffer.concat([Buffer.from('owner'), FILL]).subarray(0, 32));
  for (let round = 0; revision >= 3 && round < 50; round++) digest = md5(digest);
  let owner = rc4(digest.subarray(0, length), FILL);
  for (let round = 1; revision >= 3 && round < 20; round++)
    owner = rc4(xored(digest.subarray(0, length), round), owner);
  const bits = Buffer.alloc(4);
  bits.writeInt32LE(shape.permissions ?? -4);
  const id = Buffer.from(FILE_ID, 'hex');
  const clear = Buffer.alloc(revision >= 4 && shape.encryptMetadata === false ? 4 : 0, 255);
  let key = md5(FILL, owner, bits, id, clear).subarray(0, length);
  for (let round = 0; revision >= 3 && round < 50; round++) key = md5(key).subarray(0, length);
  let user = revision === 2 ? rc4(key, FILL) : md5(FILL, id);
  for (let round = 0; revision >= 3 && round < 20; round++) user = rc4(xored(key, round), user);
  return { key, owner, user: Buffer.concat([user, Buffer.alloc(32)]).subarray(0, 32) };
}

/** Options of the builders: encryption of each object, and the trailer with /Encrypt. */
export function encrypted(shape: EncryptionShape): Required<Pick<FileShape, 'seal' | 'trailer'>> {
  const revision = { 1: 2, 2: 3, 4: 4 }[shape.version];
  const length = shape.length ?? (shape.version === 1 ? 5 : 16);
  const { key, owner, user } = keysOf(shape, revision, length);
  const { strings = 'V2', streams = 'V2' } = shape;
  const methods = [...new Set([strings, streams])].filter((name) => name !== 'Identity');
  // Some readers insist on the usual name of the only filter.
  const filterOf = (name: string) => (name === 'Identity' || methods.length > 1 ? name : 'StdCF');
  const crypt =
    shape.version < 4
      ? ''
      : `/CF << ${methods.map((name) => `/${filterOf(name)} << /CFM /${name} /Length 16 /AuthEvent /DocOpen >>`).join('')} >> ` +
        `/StmF /${filterOf(streams)} /StrF /${filterOf(strings)} /EncryptMetadata ${shape.encryptMetadata ?? true}`;
  const dict =
    `<< /Filter /Standard /V ${shape.version} /R ${revision} /Length ${8 * length} /P ${shape.permissions ?? -4} ` +
    `/O <${owner.toString('hex')}> /U <${user.toString('hex')}> ${crypt} >>`;
  const seal = (number: number, body: string): string => {
    const at = body.indexOf('\nstream\n');
    const head = at < 0 ? body : body.slice(0, at);
    if (/\/Type \/XRef\b/.test(head)) return body;
    const object = objectCipher(key, number);
    const text = head.replace(/\((?:\\.|[^\\()])*\)/g, (literal) => {
      const value = Buffer.from(literal.slice(1, -1).replace(/\\(.)/g, '$1'), 'latin1');
      return `<${object(strings, value).toString('hex')}>`;
    });
    if (at < 0) return text;
    const named = /\/Name \/(\w+)/.exec(/\/Filter \/Crypt|\/Filter \[ ?\/Crypt/.test(head) ? head : '')?.[1];
    const exempt = /\/Type \/Metadata/.test(head) && shape.encryptMetadata === false;
    const method = named === 'Identity' || exempt ? 'Identity' : streams;
    const data = object(method, Buffer.from(body.slice(at + 8, body.lastIndexOf('\nendstream')), 'latin1'));
    return `${text.replace(/\/Length \d+/, `/Length ${data.length}`)}\nstream\n${data.toString('latin1')}\nendstream`;
  };
  if (shape.number === undefined) return { seal, trailer: `/Encrypt ${dict}` };
  const { number } = shape;
  return {
    seal: (own, body) => (own === number ? dict : seal(own, body)),
    trailer: `/Encrypt ${number} 0 R`,
  };
}

function objectCipher(fileKey: Buffer, number: number) {
  const place = Buffer.alloc(5);
  place.writeUIntLE(number, 0, 3);
  return (method: 'V2' | 'AESV2' | 'Identity', data: Buffer): Buffer => {
    if (method === 'Identity') return data;
    const salt = Buffer.from(method === 'AESV2' ? 'sAlT' : '');
    const key = md5(fileKey, place, salt).subarray(0, Math.min(16, fileKey.length + 5));
    if (method === 'V2') return rc4(key, data);
    const vector = md5(data, place);
    const cipher = createCipheriv('aes-128-cbc', key, vector);
    return Buffer.concat([vector, cipher.update(data), cipher.final()]);
  };
}
