/** The only place where real parts meet: settings → store → actors → HTTP. */

import { realpathSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createRemotePortal, makeStorageFolders, Services, storageLayout } from '../actors/index.ts';
import {
  createBatchMetrics,
  createBatchServer,
  createLoadGuard,
  createPortalServer,
  type HttpServer,
  portalPageRoutes,
} from '../http/index.ts';
import {
  type Clock,
  Fatal,
  Faults,
  type Ids,
  openLmdbStore,
  systemClock,
  systemIds,
} from '../runtime/index.ts';
import { faultLine, inputOverlaps, type Settings } from '../settings.ts';
import { folderOptions } from './folder-options.ts';
import { keepApiKey, openKeyFolder, SESSION_FILE } from './key-folder.ts';
import { batchListenSettings, portalListenSettings } from './listen-settings.ts';
import { type PortalSetup, setUpPortal } from './portal-setup.ts';
import type { RunningService, Serve, ServiceFacts } from './running-service.ts';
import { deriveEncryptionKey, type SigningSetup, setUpSigning } from './signing-setup.ts';
import { hostMode, systemFacts } from './system-facts.ts';

/**
 * Brings the service up in the order of batch-gaps §7: store, certificates, recovery, listening, then the work.
 * What was opened is closed again when a later part cannot be had.
 */
export const serve: Serve = async (settings, log, options) => {
  const clock = systemClock;
  const ids = systemIds;
  const layout = storageLayout(settings.storage.root);
  const faults = Faults.parse(options.faults);
  const grace = settings.hosting.shutdownTimeoutSeconds * 1000;
  // Also where a library makes the file (the store) nobody but the owner and the group may read what is kept.
  process.umask(process.umask() | 0o027);
  /** Parts at work, which end side by side on one deadline, and then the store below them. */
  const working: (() => Promise<void>)[] = [];
  let closeStore = async () => {};
  const stop = async () => {
    await Promise.all(working.map((end) => end()));
    await closeStore();
  };
  try {
    makeStorageFolders(
      layout,
      settings.storage.inputs.map(({ path }) => path),
    );
    refuseOverlaps(settings);
    const keys = openKeyFolder(layout.keys, ids);
    let tellLost: (why: string) => void = () => {};
    const lost = new Promise<string>((resolve) => {
      tellLost = resolve;
    });
    const store = openLmdbStore({ folder: layout.db, faults, onLost: (why) => tellLost(why) });
    closeStore = () => store.close();
    const kept = settings.auth.apiKey === undefined ? await keepApiKey(keys, ids) : undefined;
    if (kept) log.hide(kept.value);
    const apiKey = settings.auth.apiKey ?? kept?.value ?? '';
    const signing = await setUpSigning(settings, keys, { clock, ids });
    const encryptionKey = await deriveEncryptionKey(settings);
    const metrics = createBatchMetrics(
      {
        folders: settings.storage.inputs.map(({ name }) => name),
        profiles: signing.profiles.map(({ name, method }) => ({ name, remote: method === 'RemoteSigner' })),
      },
      () => clock.now(),
    );
    /** Known once the portal listens; nobody asks before. */
    let portalUrl: string | undefined;
    const portal = portalIsServed(settings, signing)
      ? await setUpPortal(settings, keys, signing, {
          clock,
          ids,
          publicUrl: () => settings.portal.publicUrl ?? portalUrl ?? settings.portal.url.href,
        })
      : undefined;
    for (const { kept: secret } of portal?.keys ?? []) if (secret) log.hide(secret.value);
    const services = await Services.open(
      {
        ...(portal && { portal: portal.options }),
        shards: settings.runtime.shards,
        onLost: (why) => tellLost(why),
        batch: {
          layout,
          folders: folderOptions(settings, signing.profiles),
          profiles: signing.profiles,
          trust: signing.trust,
          ...(settings.signing.license !== undefined && { license: settings.signing.license }),
          ...(encryptionKey && { encryptionKey }),
          ...remotePart(settings, clock, ids, working),
          maxConcurrency: settings.pipeline.maxConcurrency,
          pollEvery: settings.pipeline.pollIntervalSeconds * 1000,
          outputCollision: settings.storage.outputCollision === 'Suffix' ? 'suffix' : 'fail',
          threads: availableParallelism(),
        },
      },
      { store, clock, ids, log, faults, faultsText: options.faults ?? '', observer: metrics.observer },
    );
    const { batch } = services;
    working.push(() => services.stop(grace));
    // Both services answer on this thread, so what one has to do keeps the other waiting.
    const load = createLoadGuard(clock, log);
    let server: HttpServer | undefined;
    let url: string | undefined;
    if (settings.batch.enabled) {
      server = createBatchServer({
        service: batch,
        inspection: batch.inspection,
        mails: services.portal?.mails,
        settings: batchListenSettings(settings, apiKey),
        clock,
        ids,
        log,
        load,
        metrics,
        pages: {
          version: options.version,
          pollSeconds: settings.dashboard.pollIntervalSeconds,
          facts: systemFacts(settings, {
            version: options.version,
            store: store.describe().engine,
            node: process.version,
            host: hostMode(process.env),
          }),
        },
        sessionKeys: {
          load: () => keys.read(SESSION_FILE),
          save: (text) => keys.replace(SESSION_FILE, text),
        },
      });
      url = (await server.listen()).url;
      const { close } = server;
      working.push(() => close.call(server));
    }
    if (services.portal !== undefined) {
      const listener = createPortalServer({
        service: services.portal,
        settings: portalListenSettings(settings),
        clock,
        ids,
        log,
        version: options.version,
        load,
        observe: metrics.portalRequest,
        pageRoutes: portalPageRoutes(services.portal, clock),
      });
      portalUrl = (await listener.listen()).url;
      working.push(() => listener.close());
    }
    await services.start();
    const { engine, location } = store.describe();
    const service: RunningService = {
      facts: {
        batchUrl: url,
        portal: portalFacts(portal, portalUrl),
        store: { engine, location },
        output: layout.output,
        apiKey: kept
          ? { from: 'file', path: kept.path, made: kept.made ? kept.value : undefined }
          : { from: apiKey === '' ? 'nowhere' : 'configuration' },
        certificate: signing.certificate,
        paused: batch.paused,
        profiles: signing.profiles.map((profile) => ({
          name: profile.name,
          source: profile.method === 'Local' ? (profile.facts?.source ?? 'Local') : 'RemoteSigner',
          verify: profile.verify,
          encrypt: profile.encrypt,
          validate: profile.method === 'Local' ? profile.validateCertificate : undefined,
        })),
        warnings: [
          ...signing.warnings,
          ...signing.expiring,
          ...(portal?.warnings ?? []),
          ...(settings.portal.enabled && portal === undefined ? [NO_SEAL] : []),
        ],
      },
      lost,
      stop,
    };
    return service;
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
};

const NO_SEAL =
  'The portal is not served: it seals with a signing profile of the Method Local, and there is none. Portal:Enabled=false says that this is meant.';

/** Without a key of its own the portal could seal nothing; what `Portal:SealProfile` names has to be there. */
function portalIsServed({ portal }: Settings, { profiles }: SigningSetup): boolean {
  if (!portal.enabled) return false;
  return portal.sealProfile !== undefined || profiles.some(({ method }) => method === 'Local');
}

function portalFacts(portal: PortalSetup | undefined, url: string | undefined): ServiceFacts['portal'] {
  if (portal === undefined || url === undefined) return undefined;
  return {
    url,
    mailFolder: portal.mailFolder,
    keys: portal.keys.map(({ organization, application, kept }) => ({
      organization,
      application,
      secret: kept && { path: kept.path, made: kept.made ? kept.value : undefined },
    })),
  };
}

/**
 * Two names of one folder are seen only on the disk. Source: batch-gaps §5, `Storage:Inputs`.
 * @throws {Fatal} `settings.overlap`
 */
function refuseOverlaps({ storage }: Settings): void {
  const faults = inputOverlaps(storage, realPath);
  if (faults.length === 0) return;
  throw new Fatal('settings.overlap', faults.map(faultLine).join('\n'));
}

/** Where a path leads once every link in it is followed, also when its last parts are not there yet. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if ((code !== 'ENOENT' && code !== 'ENOTDIR') || dirname(path) === path) return path;
    return join(realPath(dirname(path)), basename(path));
  }
}

/** The remote portal, when a profile needs it. */
function remotePart(
  { signing, remoteSigner }: Settings,
  clock: Clock,
  ids: Ids,
  working: (() => Promise<void>)[],
) {
  const { endpoint, apiKey } = remoteSigner;
  const needed = signing.profiles.some(({ method }) => method === 'RemoteSigner');
  if (!needed || endpoint === undefined || apiKey === undefined) return {};
  const portal = createRemotePortal({
    endpoint,
    apiKey,
    timeout: remoteSigner.requestTimeoutSeconds * 1000,
    clock,
    ids,
  });
  working.push(async () => portal.close());
  return {
    remote: {
      portal,
      every: remoteSigner.pollIntervalSeconds * 1000,
      timeout: remoteSigner.timeoutHours * 3_600_000,
      maxFailures: remoteSigner.maxConsecutiveApiFailures,
    },
  };
}
