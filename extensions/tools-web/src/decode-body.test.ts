import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { decodeBody } from './decode-body.js';

const TEXTS: [language: string, charset: string, text: string][] = [
  [
    'French',
    'windows-1252',
    "Le café est fermé aujourd'hui, à cause de la grève. Où êtes-vous allés l'été dernier ? Ça va très bien.",
  ],
  [
    'German',
    'windows-1252',
    'Über den Wolken muß die Freiheit wohl grenzenlos sein. Schöne Grüße aus München.',
  ],
  [
    'Spanish',
    'windows-1252',
    '¿Dónde está el niño? Mañana iré al médico con mi señora. Más información aquí.',
  ],
  [
    'Portuguese',
    'windows-1252',
    'A situação não é fácil para ninguém. O coração das pessoas está em São Paulo.',
  ],
  [
    'Italian',
    'windows-1252',
    'La città è più bella che mai; perché non andiamo là? Sarà così anche domani.',
  ],
  [
    'Finnish',
    'windows-1252',
    'Hyvää päivää! Tänään on kaunis sää. Minä olen Helsingistä, mutta äitini ei.',
  ],
  [
    'English with names',
    'windows-1252',
    'Beyoncé met Zoë and François at the café in São Paulo; the fiancée was naïve.',
  ],
  [
    'English with signs',
    'windows-1252',
    'The price is £5 for 3 m² at 20 °C, ½ of it for you © 2020 — naïve “quotes”.',
  ],
  [
    'Polish',
    'iso-8859-2',
    'Zażółć gęślą jaźń. Dzień dobry, chciałbym kupić książkę o historii Łodzi. Świetnie, dziękuję.',
  ],
  [
    'Czech',
    'iso-8859-2',
    'Dobrý den, jak se máte? Děkuji, mám se dobře. Včera jsme byli v Brně, protože tam žije naše babička, a večer jsme se vrátili domů vlakem.',
  ],
  [
    'Hungarian',
    'iso-8859-2',
    'Árvíztűrő tükörfúrógép. Jó napot kívánok! Hol található a legközelebbi állomás? Köszönöm szépen.',
  ],
  [
    'Russian',
    'windows-1251',
    'Добрый день! Сегодня в городе хорошая погода, и мы решили пойти на реку, потому что там всегда много людей и можно купить что-нибудь вкусное.',
  ],
];

describe('a page that does not say its charset', () => {
  it.each(TEXTS)('is read as it was written: %s', async (_, charset, text) => {
    const links = '<li class="item menu-entry"><a href="/section/list.html">Home</a></li>'.repeat(
      20,
    );
    const html = `<html><head><title>x</title><script>var a = "b";</script></head><body><ul>${links}</ul><div class="content main-content"><p>${text}</p><p>${text}</p></div></body></html>`;
    const decoded = await decodeBody(iconv.encode(html, charset), undefined, true);
    expect(decoded.text).toBe(html);
  });
});
