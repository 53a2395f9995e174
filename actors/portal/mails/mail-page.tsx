/**
 * The page of a mail. Clients of mails know tables and styles on elements; the style sheet has the dark colours alone,
 * which clients without it do not need. Colours are those of `styles/tokens.css`.
 */
import { html } from '../../../contracts/texts/html.ts';
import { documentText, Template } from '../../../contracts/texts/markup.tsx';

interface MailButton {
  readonly label: string;
  readonly url: string;
}

export interface MailPage {
  readonly language: string;
  readonly subject: string;
  /** The greeting first. */
  readonly paragraphs: readonly string[];
  /** Digits to type in, shown large. */
  readonly code?: string | undefined;
  readonly button?: MailButton | undefined;
  readonly items?: readonly MailButton[] | undefined;
  /** In small print. */
  readonly more?: MailButton | undefined;
  /** Small print. */
  readonly footer: string;
  /** Colour of buttons; white text has enough contrast on it. @default ours */
  readonly brand?: string | undefined;
  readonly header?: MailHeader | undefined;
}

export interface MailHeader {
  readonly name: string;
  /** Colours of the band; undefined = none. */
  readonly band: { readonly ground: string; readonly text: string } | undefined;
  readonly logo: { readonly source: string; readonly width: number; readonly height: number } | undefined;
}

const BRAND = '#1f4fd8';
const FONT = "font-family:Inter,'Segoe UI',Helvetica,Arial,sans-serif";
const DARK = `@media (prefers-color-scheme: dark) {
.ground { background: #0f1218 !important; }
.sheet { background: #171b23 !important; border-color: #2b313d !important; }
.strong { color: #eceff4 !important; }
.soft { color: #a3adbb !important; border-color: #2b313d !important; }
.soft a { color: #7aa2ff !important; }
}`;

export function mailPage(mail: MailPage): string {
  const { language, subject, paragraphs, code, button, items = [], footer, brand = BRAND, header } = mail;
  const page = documentText(
    <html lang={language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>
          <Text of={subject} />
        </title>
        <style dangerouslySetInnerHTML={{ __html: DARK }} />
      </head>
      <body class="ground" style={`margin:0;background:#f6f7f9;${FONT}`}>
        <table class="ground" role="presentation" width="100%" style="background:#f6f7f9">
          <tr>
            <td align="center" style="padding:28px 12px">
              <table class="sheet" role="presentation" width="560" style={SHEET}>
                {header && <Header header={header} brand={brand} />}
                <tr>
                  <td style="padding:20px 28px 12px">
                    <div role="main">
                      <h1 class="strong" style="margin:0 0 12px;font-size:21px;line-height:1.3;color:#12161d">
                        <Text of={subject} />
                      </h1>
                      {paragraphs.map((text) => (
                        <p class="soft" style={TEXT}>
                          <Text of={text} />
                        </p>
                      ))}
                      {code !== undefined && (
                        <p class="code strong" style={CODE}>
                          {code}
                        </p>
                      )}
                      {(button === undefined ? items : [button, ...items]).map(({ label, url }) => (
                        <p style="margin:0 0 12px">
                          <a href={url} style={`${BUTTON};background:${brand}`}>
                            <Text of={label} />
                          </a>
                        </p>
                      ))}
                    </div>
                  </td>
                </tr>
                <tr>
                  <td
                    class="soft"
                    role="contentinfo"
                    style={`padding:14px 28px 18px;border-top:1px solid #dfe3e8;${SMALL}`}
                  >
                    {/* As text too, for comparison and copying. */}
                    {button !== undefined && <p style="margin:0 0 8px;word-break:break-all">{button.url}</p>}
                    {mail.more !== undefined && (
                      <p style="margin:0 0 8px">
                        <a href={mail.more.url}>
                          <Text of={mail.more.label} />
                        </a>
                      </p>
                    )}
                    <p style="margin:0">
                      <Text of={footer} />
                    </p>
                  </td>
                </tr>
              </table>
            </td>
          </tr>
        </table>
      </body>
    </html>,
  );
  // Longer lines have an encoding that breaks links.
  return page.replaceAll('><', '>\n<');
}

/** A text of others: also `>` and the apostrophe are escaped. */
function Text({ of }: { readonly of: string }) {
  return <Template of={html`${of}`} />;
}

const SHEET =
  'max-width:560px;width:100%;background:#ffffff;border:1px solid #dfe3e8;border-radius:12px;border-collapse:separate;border-spacing:0;text-align:start';
const TEXT = 'margin:0 0 12px;font-size:15px;line-height:1.6;color:#59626f;white-space:pre-line';
const SMALL = 'font-size:12px;line-height:1.6;color:#59626f';
const CODE =
  'margin:0 0 16px;font-size:32px;letter-spacing:8px;font-family:monospace;user-select:all;color:#12161d';
const BUTTON =
  'display:inline-block;padding:13px 26px;border-radius:9px;font-size:16px;font-weight:600;line-height:1.2;color:#ffffff;text-decoration:none';

/** Logo or first letter, with the name of the organization. */
function Header({
  header: { name, band, logo },
  brand,
}: {
  readonly header: MailHeader;
  readonly brand: string;
}) {
  const colours =
    band === undefined ? '' : `background:${band.ground};color:${band.text};border-radius:11px 11px 0 0;`;
  return (
    <tr>
      <td role="banner" style={`${colours}padding:${band === undefined ? '22px 28px 0' : '14px 28px'}`}>
        {logo === undefined ? (
          <table role="presentation">
            <tr>
              <td style={`${MARK};background:${brand}`} aria-hidden="true">
                {[...name][0] ?? ''}
              </td>
              <td
                class={band === undefined ? 'strong' : undefined}
                style={`padding-left:12px;font-weight:600;${band === undefined ? 'color:#12161d' : ''}`}
              >
                <Text of={name} />
              </td>
            </tr>
          </table>
        ) : (
          <img src={logo.source} alt={name} width={logo.width} height={logo.height} />
        )}
      </td>
    </tr>
  );
}

const MARK =
  'width:34px;height:34px;border-radius:8px;text-align:center;font-size:16px;font-weight:700;color:#ffffff';
