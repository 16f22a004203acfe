import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  codeOfLocation,
  parseSearchCall,
  runSearchCall,
  searchCallText,
  type RelevantLocation,
} from '../../../../src/method/agents/autoCodeRoverSearches';
import { viewForTests } from '../sampleView';

describe('the searches of AutoCodeRover', () => {
  const sample = viewForTests();
  const searching = () => ({ files: sample.files(), signal: undefined });
  const search = async (text: string): Promise<string> => {
    const call = parseSearchCall(text);
    assert.ok(!('problem' in call), JSON.stringify(call));
    return runSearchCall(call, searching());
  };

  it('are read as they are written, whatever their arguments hold', () => {
    const argument = fc.string({ unit: 'grapheme' }).filter((each) => each.trim() !== '');
    fc.assert(
      fc.property(argument, argument, (one, two) => {
        const call = { name: 'search_code_in_file', args: [one, two] };
        assert.deepEqual(parseSearchCall(searchCallText(call)), call);
      }),
    );
  });

  it('are read with single quotes, names of parameters and bare words', () => {
    const call = { name: 'search_method_in_file', args: ["it's", 'a.py'] };
    for (const text of [
      `search_method_in_file("it's", 'a.py')`,
      String.raw` search_method_in_file( 'it\'s' , a.py )`,
      `search_method_in_file(method_name="it's", file_name = "a.py",)`,
    ]) {
      assert.deepEqual(parseSearchCall(text), call, text);
    }
  });

  it('are refused with the reason where they are none', () => {
    for (const [text, why] of [
      ['search_all("x")', /is not a search call/],
      ['toString("x")', /is not a search call/],
      ['search_class', /is not a search call/],
      ['search_class()', /needs the arguments \(class_name\)/],
      ['search_class("A", "B")', /needs the arguments/],
      ['search_class(" ")', /needs the arguments/],
      ['search_class("A" "B")', /not strings/],
      [`search_code("${'x'.repeat(3000)}")`, /is not a search call/],
    ] as const) {
      const parsed = parseSearchCall(text);
      assert.ok('problem' in parsed, text);
      assert.match(parsed.problem, why);
    }
    fc.assert(fc.property(fc.string(), (text) => void parseSearchCall(text)));
  });

  it('find classes, methods and code with their places', async () => {
    assert.match(
      await search('search_class("Money")'),
      /1 place with a class Money:\n\ntallybook\/money\.py, Money, from line 13:\n```python\nclass Money:\n {4}def __init__\(self, cents\):/,
    );
    assert.match(await search('search_class_in_file("Money", "money.py")'), /self\.cents = cents/);
    assert.match(
      await search('search_method_in_file("allocate", "tallybook/money.py")'),
      /Money\.allocate, from line 35:\n```python\n {4}def allocate\(self, weights\):[^]*return \[Money/,
    );
    const code = await search('search_code_in_file("missing = ", "money.py")');
    assert.match(code, /Money\.allocate, from line 48:\n(?:.*\n){4} {8}missing = /);
    const twoLines = 'total = sum(weights)\\n        if total <= 0';
    assert.match(await search(`search_code("${twoLines}")`), /^Found 1 place/);
    assert.match(await search('show_file_start("tests/test_money.py")'), /^tests\/test_money\.py/);
  });

  it('show three results and name the files of the others', async () => {
    const text = await search('search_method("__init__")');
    assert.match(text, /^Found [4-9] places with a method __init__:/);
    assert.equal(text.match(/```python/g)?.length, 3);
    assert.match(text, /\n\n\d more in tallybook\/\w+\.py(?:, [\w/]+\.py)*$/);
  });

  it('say what they do not find, and never read outside R', async () => {
    assert.match(await search('search_class("Nope")'), /no match for a class Nope/);
    assert.match(await search('search_class("no name")'), /is no name/);
    assert.match(await search('search_method_in_file("allocate", "ey.py")'), /has no file ey\.py/);
    assert.match(await search('search_method_in_class("allocate", "Ledger")'), /has no match for/);
    for (const path of ['../trees.json', '/etc/passwd', '.git/HEAD', '.git/config']) {
      assert.match(await search(`show_file_start("${path}")`), /has no file/);
    }
  });

  it('show relevant locations as far as they are found', async () => {
    const locate = (location: RelevantLocation) => codeOfLocation(location, searching());
    const method = { file: 'tallybook/money.py', class: 'Money', method: 'allocate' };
    assert.match(await locate(method), /def allocate/);
    assert.match(await locate({ ...method, method: 'gone' }), /class Money/);
    assert.match(await locate({ ...method, method: 'gone', class: 'Gone' }), /"""Exact amounts/);
    assert.match(await locate({ class: 'Gone' }), /^Nothing found with the name Gone/);
    assert.match(await locate({ method: 'allocate', file: 'gone.py' }), /has no file gone\.py/);
  });
});
