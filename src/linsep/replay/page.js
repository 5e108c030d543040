// Shows the film that lies beside this script as JSON. Text from the data enters the page as text only.

const element = id => document.getElementById(id);
const film = JSON.parse(element("film").textContent);
const { frames, picture } = film;
const grid = gridOf(picture);
const count = frames.step.length;
const player = makePlayer({ count: () => count, show: draw, tell: tellPlaying, speed: firstSpeed(count) });
const { state, play, pause, go, to: show } = player;
const charts = filmCharts(film, go);

function pictureBox() {
  return frameBox(element("picture"), picture);
}

function draw(frame) {
  drawScene(prepare(element("picture")), picture, (pen, at) => paintFrame(pen, at, film, grid, frame));
  for (const chart of charts) drawChart(chart, frame);
  for (const chart of charts) tellChart(chart, frame); // words last: the page is laid out once
  element("scrub").value = frame;
  element("scrub").setAttribute("aria-valuetext", `step ${frames.step[frame]}`);
  element("status").textContent = sentence(film, frame);
  element("update").textContent = updateWords(film, frame);
}

function fillTexts() {
  element("across").textContent = `→ ${picture.names[0]}`;
  element("up").textContent = `↑ ${picture.names[1]}`;
  element("sentence").textContent = picture.sentence;
  element("bound").textContent = film.bound?.sentence ?? "";
  element("advice").textContent = film.advice;
  element("advice").hidden = !film.advice;
  for (const note of film.notes) element("notes").append(item("li", note));
  for (const [name, fact] of film.facts) element("facts").append(item("dt", name), item("dd", fact));
  element("legend").append(...legendOf(film));
}

function redraw() {
  show(state.frame);
  drawSwatches();
}

fillTexts();
element("scrub").max = count - 1;
listenToPlayer(player);
addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
show(film.opening);
drawSwatches();
