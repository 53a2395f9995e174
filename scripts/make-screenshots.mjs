/**
 * Makes the pictures of README.md: `npm run build && node scripts/make-screenshots.mjs`.
 *
 * Starts the service in a temporary folder, makes a document, opens its signing page in chromium (Debian's, or
 * the one named by CHROMIUM), signs an administrator in, and writes the files in docs/images/.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const root = join(import.meta.dirname, '..');
const images = join(root, 'docs', 'images');
const MAX_BYTES = 150_000;

/** Lines of the sample document: y position in points, font size, text. */
const LINES = [
  [760, 22, 'Rental agreement'],
  [720, 12, 'between Ana Lima (tenant) and Blue House Ltd (landlord)'],
  [670, 14, '1. Property'],
  [648, 12, 'The landlord rents the flat in 12 Harbour Street, second floor, to the tenant.'],
  [610, 14, '2. Rent'],
  [588, 12, 'The rent is 900 a month. It is due on the first working day of the month.'],
  [550, 14, '3. Term'],
  [528, 12, 'The agreement starts on 1 January and ends when one party gives notice.'],
  [490, 14, '4. Signatures'],
  [468, 12, 'Both parties sign electronically.'],
];

const folder = mkdtempSync(join(tmpdir(), 'sealwright-screenshots-'));
const service = spawn(process.execPath, [join(root, 'dist', 'main.js'), 'serve'], {
  cwd: folder,
  env: { PATH: process.env.PATH, Batch__Url: 'http://127.0.0.1:0', Portal__Url: 'http://127.0.0.1:0' },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = new Promise((resolve) => service.once('exit', resolve));
try {
  const portal = await portalUrl();
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: 'en' });
    await page.goto(await signingPage(portal));
    await page.locator('canvas').first().waitFor();
    await page.waitForLoadState('networkidle');
    mkdirSync(images, { recursive: true });
    await keepPicture(page, 'signing-page.png');
    await page.goto(await signInLink(portal));
    await page.getByRole('button').last().click();
    await page.getByLabel('URL').fill('https://shop.example.com/signed');
    await page.getByRole('button', { name: 'Register webhook' }).click();
    await page.getByText('The webhook is registered.').waitFor();
    await keepPicture(page, 'organization-page.png');
  } finally {
    await browser.close();
  }
} finally {
  service.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true, force: true });
}

/** Writes a picture of the page to docs/images/. */
async function keepPicture(page, name) {
  const path = join(images, name);
  await page.screenshot({ path });
  const { size } = statSync(path);
  if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes, more than ${MAX_BYTES}`);
  console.log(`docs/images/${name} written, ${size} bytes`);
}

/** Registers an administrator and gives the link in the mail to her. */
async function signInLink(portal) {
  const secret = readFileSync(join(folder, 'data/keys/portal-application-secret'), 'utf8').trim();
  const email = 'ana@example.com';
  const person = { name: 'Ana Lima', email, accessProfile: { administrator: true } };
  await fetch(`${portal}/api/organizations/users`, {
    method: 'POST',
    headers: { 'X-Api-Key': `default|${secret}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(person),
  });
  await fetch(`${portal}/sign-in`, { method: 'POST', body: new URLSearchParams({ email }) });
  const mails = join(folder, 'data/mail');
  for (let tries = 0; tries < 600; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const texts = readdirSync(mails).filter((name) => name.endsWith('.eml'));
    for (const name of texts) {
      const link = /http:\S+\/sign-in\/link\?ticket=[\w-]+/.exec(
        readFileSync(join(mails, name), 'utf8'),
      )?.[0];
      if (link !== undefined) return link;
    }
  }
  throw new Error('No link was mailed.');
}

/** The address of the portal, once the service is ready. */
function portalUrl() {
  return new Promise((resolve, reject) => {
    let text = '';
    service.stdout.on('data', (chunk) => {
      text += chunk;
      if (text.includes('[INF] Ready')) resolve(/Portal +(http\S+)/.exec(text)?.[1]);
    });
    service.once('exit', () => reject(new Error(`The service ended:\n${text}`)));
  });
}

/** Makes a document for Ana and gives the address of her page. */
async function signingPage(portal) {
  const secret = readFileSync(join(folder, 'data/keys/portal-application-secret'), 'utf8').trim();
  const call = async (path, body) => {
    const headers = { 'X-Api-Key': `default|${secret}`, 'Content-Type': 'application/json' };
    const answer = await fetch(`${portal}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  };
  const { id } = await call('/api/uploads/bytes', { bytes: samplePdf().toString('base64') });
  const [{ documentId }] = await call('/api/documents', {
    files: [{ id, displayName: 'Rental agreement', name: 'agreement.pdf', contentType: 'application/pdf' }],
    flowActions: [
      {
        type: 'Signer',
        allowElectronicSignature: true,
        user: { name: 'Ana Lima', identifier: '12345', email: 'ana@example.com' },
      },
    ],
  });
  const { url } = await call(`/api/documents/${documentId}/action-url`, { emailAddress: 'ana@example.com' });
  return url;
}

function samplePdf() {
  const text = LINES.map(
    ([y, size, line]) => `BT /F ${size} Tf 70 ${y} Td (${line.replace(/[()\\]/g, '\\$&')}) Tj ET`,
  );
  const content = text.join('\n');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let pdf = '%PDF-1.7\n';
  const rows = objects.map((object, index) => {
    const row = `${String(pdf.length).padStart(10, '0')} 00000 n \n`;
    pdf += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return row;
  });
  const size = objects.length + 1;
  const start = pdf.length;
  pdf += `xref\n0 ${size}\n0000000000 65535 f \n${rows.join('')}`;
  pdf += `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(pdf, 'latin1');
}

function chromiumPath() {
  return process.env.CHROMIUM ?? execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim();
}
