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

describe('a page whose charset', () => {
  const russian = '<p>Привет мир, съешь же ещё этих мягких французских булок.</p>';
  const german = '<p>Die Größe der Straße über den Fluß.</p>';
  const meta = '<meta http-equiv=Content-Type content=text/html;charset=koi8-r>';
  const legacy = '<meta charset="gbk">';
  it.each([
    ['is UTF-8 in the header alone', german, 'windows-1252', 'utf-8'],
    ['is UTF-8 in the header, and right in the page', `${legacy}这是一个网页`, 'gbk', 'utf-8'],
    ['is Western in the header of UTF-8', german, 'utf-8', 'iso-8859-1'],
    ['is named without quotes', meta + russian, 'koi8-r', undefined],
    ['has to be guessed from a few foreign words', russian, 'windows-1251', undefined],
  ])('%s', async (_, html, charset, header) => {
    const decoded = await decodeBody(iconv.encode(html, charset), header, true);
    expect(decoded.text).toBe(html);
  });

  it.each(['ISO-2022-JP', 'csISO2022JP'])('is %s', async (header) => {
    const bytes = Buffer.from('<p>\x1b$B=PNO\x1b(B</p>', 'latin1');
    expect((await decodeBody(bytes, header, true)).text).toBe('<p>出力</p>');
  });

  it('is UTF-8, with a few broken bytes and one letter cut in two', async () => {
    const bytes = Buffer.concat([Buffer.from(`${german}\xff`, 'utf8'), Buffer.from([0xff, 0xc3])]);
    expect((await decodeBody(bytes, 'utf-8', true)).charset).toBe('utf-8');
    const cut = Buffer.from('a long text, and one ü').subarray(0, -1);
    expect((await decodeBody(cut, 'utf-8', true)).charset).toBe('utf-8');
  });
});
