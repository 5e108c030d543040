// LIBSVM text, "label index:value index:value …" a line, as the three arrays of a CSR matrix.
#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "parallel.hpp"

namespace linsep {

// What is wrong with a line; reference.py has the same numbers, and data/libsvm.py the words.
enum class LibsvmFault : int { none, label, index, colon, value, order, range };

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
inline bool ends_token(const char *p, const char *end) { return p == end || is_blank(*p) || *p == '\n' || *p == '#'; }

// Reads the number at p that ends its token and moves p past it; false if there is none or it is not finite.
inline bool read_number(const char *&p, const char *end, double &value) {
    const char *q = p;
    const bool negative = q != end && *q == '-';
    if (q != end && (*q == '-' || *q == '+')) ++q;
    const char *const digits = q;
    std::uint64_t mantissa = 0;
    int places = 0, seen = 0;
    for (; q != end && is_digit(*q); ++q, ++seen) mantissa = 10 * mantissa + static_cast<std::uint64_t>(*q - '0');
    if (q != end && *q == '.')
        for (++q; q != end && is_digit(*q); ++q, ++seen, ++places)
            mantissa = 10 * mantissa + static_cast<std::uint64_t>(*q - '0');
    static constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (seen > 0 && seen <= 19 && mantissa <= (std::uint64_t{1} << 53) && ends_token(q, end)) {
        // Both numbers are exact, so that one division rounds once (Clinger's fast path).
        value = static_cast<double>(mantissa) / powers[places];
        if (negative) value = -value;
        p = q;
        return true;
    }
    while (!ends_token(q, end)) ++q;
    if (q == digits || (*digits != '.' && !is_digit(*digits))) return false;
#if defined(__cpp_lib_to_chars)
    const auto found = std::from_chars(digits, q, value);
    const bool whole = found.ptr == q && (found.ec == std::errc{} || found.ec == std::errc::result_out_of_range);
    if (whole && found.ec != std::errc{}) value = std::strtod(std::string(digits, q).c_str(), nullptr);
#else
    const std::string token(digits, q);
    char *stop = nullptr;
    value = std::strtod(token.c_str(), &stop);
    const bool whole = stop == token.c_str() + token.size() && token.find_first_of("xX") == std::string::npos;
#endif
    if (!whole || !std::isfinite(value)) return false;
    if (negative) value = -value;
    p = q;
    return true;
}

// The rows of one stretch of the text.
struct LibsvmBlock {
    std::vector<double> labels, values;
    std::vector<std::int32_t> columns;
    std::vector<std::int64_t> ends;  // of each row, among the entries of this block
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max(), highest = -1;
    LibsvmFault fault = LibsvmFault::none;
    std::size_t place = 0;  // of the fault, in the text

    void parse(const char *text, std::size_t first, std::size_t last) {
        const char *p = text + first, *const end = text + last;
        const std::size_t guess = (last - first) / 12;
        columns.reserve(guess), values.reserve(guess);
        while (p != end && fault == LibsvmFault::none) {
            parse_line(text, p, end);
            while (p != end && *p != '\n') ++p;  // a comment, or what follows a fault
            if (p != end) ++p;
        }
    }

  private:
    void blame(LibsvmFault what, const char *text, const char *p) { fault = what, place = static_cast<std::size_t>(p - text); }

    static void skip_blanks(const char *&p, const char *end) {
        while (p != end && is_blank(*p)) ++p;
    }

    void parse_line(const char *text, const char *&p, const char *end) {
        skip_blanks(p, end);
        if (p == end || *p == '\n' || *p == '#') return;
        double label;
        if (!read_number(p, end, label)) return blame(LibsvmFault::label, text, p);
        std::int64_t before = -1;
        for (skip_blanks(p, end); p != end && *p != '\n' && *p != '#'; skip_blanks(p, end)) {
            const char *const token = p;
            if (end - p > 4 && std::memcmp(p, "qid:", 4) == 0) {
                while (!ends_token(p, end)) ++p;
                continue;
            }
            std::int64_t index = 0;
            while (p != end && is_digit(*p) && p - token < 12) index = 10 * index + (*p++ - '0');
            if (p == token) return blame(LibsvmFault::index, text, token);
            if (p == end || *p != ':') return blame(LibsvmFault::colon, text, token);
            if (index >= std::numeric_limits<std::int32_t>::max()) return blame(LibsvmFault::range, text, token);
            if (index <= before) return blame(LibsvmFault::order, text, token);
            ++p;
            double value;
            if (!read_number(p, end, value)) return blame(LibsvmFault::value, text, token);
            if (before < 0) lowest = std::min(lowest, index);
            before = index;
            columns.push_back(static_cast<std::int32_t>(index));
            values.push_back(value);
        }
        highest = std::max(highest, before);
        labels.push_back(label);
        ends.push_back(static_cast<std::int64_t>(columns.size()));
    }
};

// The parsed text: read once, then copied into arrays of the right size.
class LibsvmText {
  public:
    std::size_t n = 0, stored = 0;
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max(), highest = -1;
    LibsvmFault fault = LibsvmFault::none;
    std::size_t place = 0;

    LibsvmText(const char *text, std::size_t size, std::size_t threads) : threads_(threads) {
        constexpr std::size_t stretch = std::size_t{1} << 22;  // blocks that follow from the text, not from the threads
        std::vector<std::size_t> cut{0};
        while (cut.back() < size) {
            std::size_t next = std::min(size, cut.back() + stretch);
            const void *newline = next < size ? std::memchr(text + next, '\n', size - next) : nullptr;
            cut.push_back(newline ? static_cast<std::size_t>(static_cast<const char *>(newline) - text) + 1 : size);
        }
        blocks_.resize(cut.size() - 1);
        parallel_for(blocks_.size(), threads, [&](std::size_t k) { blocks_[k].parse(text, cut[k], cut[k + 1]); });
        for (const auto &block : blocks_) {
            if (block.fault != LibsvmFault::none) {
                fault = block.fault, place = block.place;
                return;
            }
            n += block.labels.size(), stored += block.values.size();
            lowest = std::min(lowest, block.lowest), highest = std::max(highest, block.highest);
        }
    }

    // Column numbers are lowered by `base`. The blocks are given back as they are copied: this can be done once.
    template <class T, class I>
    void fill(std::int32_t base, double *labels, T *values, I *columns, I *start) {
        std::vector<std::size_t> row(blocks_.size() + 1, 0), entry(blocks_.size() + 1, 0);
        for (std::size_t k = 0; k < blocks_.size(); ++k) {
            row[k + 1] = row[k] + blocks_[k].labels.size();
            entry[k + 1] = entry[k] + blocks_[k].values.size();
        }
        start[0] = 0;
        parallel_for(blocks_.size(), threads_, [&](std::size_t k) {
            LibsvmBlock block = std::move(blocks_[k]);
            std::copy(block.labels.begin(), block.labels.end(), labels + row[k]);
            for (std::size_t i = 0; i < block.values.size(); ++i) {
                values[entry[k] + i] = static_cast<T>(block.values[i]);
                columns[entry[k] + i] = static_cast<I>(block.columns[i] - base);
            }
            for (std::size_t i = 0; i < block.ends.size(); ++i)
                start[row[k] + i + 1] = static_cast<I>(static_cast<std::int64_t>(entry[k]) + block.ends[i]);
        });
        blocks_.clear();
    }

  private:
    std::size_t threads_;
    std::vector<LibsvmBlock> blocks_;
};

}  // namespace linsep
