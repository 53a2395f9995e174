/** Texts of the editor in other applications, by language. */
import type { Language, PageMessage } from './page-texts.ts';

export interface EditorSessionTexts {
  readonly saveAndClose: string;
  readonly opening: string;
  /** Link that was used, or has expired; session that is over. */
  readonly over: PageMessage;
  readonly sent: PageMessage;
  readonly closed: PageMessage;
  readonly back: string;
}

export const EDITOR_SESSION_TEXTS: { readonly [Name in Language]: EditorSessionTexts } = {
  en: {
    saveAndClose: 'Save and close',
    opening: 'The document is being opened.',
    over: {
      title: 'This editor cannot be opened',
      text: 'The link was used already, or has expired. Open the document again in the application from which you came.',
    },
    sent: { title: 'The document is sent', text: 'The people whose turn it is get an e-mail.' },
    closed: { title: 'The draft is saved', text: 'The editor is closed.' },
    back: 'Back to the application',
  },
  pt: {
    saveAndClose: 'Salvar e fechar',
    opening: 'O documento está sendo aberto.',
    over: {
      title: 'Este editor não pode ser aberto',
      text: 'O link já foi usado ou expirou. Abra o documento de novo na aplicação que trouxe você até aqui.',
    },
    sent: { title: 'O documento foi enviado', text: 'Quem deve agir agora recebe um e-mail.' },
    closed: { title: 'O rascunho foi salvo', text: 'O editor está fechado.' },
    back: 'Voltar à aplicação',
  },
  es: {
    saveAndClose: 'Guardar y cerrar',
    opening: 'Se está abriendo el documento.',
    over: {
      title: 'No se puede abrir este editor',
      text: 'El enlace ya se usó o ha caducado. Abra el documento de nuevo en la aplicación que le trajo aquí.',
    },
    sent: { title: 'El documento se ha enviado', text: 'Quienes deben actuar ahora reciben un correo.' },
    closed: { title: 'El borrador se ha guardado', text: 'El editor está cerrado.' },
    back: 'Volver a la aplicación',
  },
};
