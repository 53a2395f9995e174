/** Opens the key of a signer whose key is at a service, and checks that it signs. */
import type { KeyObject } from 'node:crypto';
import type { Clock, Ids } from '@sealwright/runtime/core';
import {
  CryptoError,
  checkedSignatureValue,
  MemoryOutput,
  type RemoteSigner,
  readCertificate,
  type SignAtLevelRequest,
  signFileAtLevel,
} from '@sealwright/signatures';
import { awsKmsDriver } from './aws-kms.ts';
import { azureKeyVaultDriver } from './azure-key-vault.ts';
import { cscDriver } from './csc.ts';
import { cscPin } from './csc-pin.ts';
import { googleKmsDriver } from './google-kms.ts';
import { type KeyDriver, ServiceKey, type ServiceSigner } from './key-service.ts';
import { vaultDriver } from './vault.ts';

interface Machine {
  readonly clock: Clock;
  readonly ids: Ids;
}

type SignatureParameters = Pick<SignAtLevelRequest, 'digest' | 'padding'>;

/** A signer as the engine takes it, and its key. */
export interface OpenServiceSigner {
  readonly signer: RemoteSigner;
  readonly key: ServiceKey;
}

export function openServiceSigner(described: ServiceSigner, machine: Machine): OpenServiceSigner {
  const {
    where: _,
    place: _place,
    limits,
    proxy: _proxy,
    isTried: _isTried,
    pinState: _pinState,
    ...identity
  } = described;
  const certificate = Buffer.from(identity.certificate);
  const { publicKey } = readCertificate(certificate);
  const driver = driverOf(described, publicKey, machine.clock);
  const key = new ServiceKey(driver, limits, machine);
  const own = { ...identity, certificate, chain: identity.chain.map((der) => Buffer.from(der)) };
  const signer: RemoteSigner = {
    ...own,
    async sign(data) {
      const value = await key.sign(data);
      try {
        return checkedSignatureValue(own, data.algorithm, data.toBeSigned, value);
      } catch {
        throw new CryptoError(
          'key.mismatch',
          `${driver.name} answered with a value that the key of the certificate did not make. Nothing was signed. Check that key and certificate belong together.`,
        );
      }
    },
  };
  return { signer, key };
}

function driverOf(
  { place, limits: { maxInFlight }, proxy, pinState }: ServiceSigner,
  publicKey: KeyObject,
  clock: Clock,
): KeyDriver {
  const connections = { connections: maxInFlight, proxy };
  switch (place.service) {
    case 'Vault':
      return vaultDriver(place, connections, publicKey);
    case 'AwsKms':
      return awsKmsDriver(place, connections);
    case 'AzureKeyVault':
      return azureKeyVaultDriver(place, connections, publicKey, clock);
    case 'GoogleKms':
      return googleKmsDriver(place, connections, publicKey, clock);
    case 'Csc':
      return cscDriver(place, publicKey, { connections, clock, pin: cscPin(place, pinState) });
  }
}

const TRIAL = Buffer.from('Does this key belong to the certificate?');

/**
 * Compares the public key of the service with the certificate, and signs once where that is allowed.
 * @throws {CryptoError} `key.*`
 */
export async function checkServiceSigner(
  { signer, key }: OpenServiceSigner,
  { digest, padding }: SignatureParameters,
  { at, isTried }: { readonly at: number } & Pick<ServiceSigner, 'isTried'>,
): Promise<void> {
  await key.confirm(readCertificate(signer.certificate).publicKey);
  if (!isTried) return;
  const output = new MemoryOutput();
  const parameters = { ...(digest !== undefined && { digest }), ...(padding !== undefined && { padding }) };
  await signFileAtLevel({ format: 'Cades', input: TRIAL, output, signer, at, ...parameters });
}
